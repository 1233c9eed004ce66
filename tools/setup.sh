#!/usr/bin/env bash
# Installs the Debian packages of tools/packages.txt that are missing. Says nothing and takes a few
# milliseconds when none is. Needs root or sudo only when there is something to install.
set -euo pipefail
cd "$(dirname "$0")/.."

die() {
  echo "setup: $*" >&2
  exit 1
}

command -v dpkg-query >/dev/null || die "this is not a Debian system; Leat is built on Debian 12." \
  "Install the equivalents of tools/packages.txt by hand and call cmake --preset dev."

mapfile -t wanted < <(sed -e 's/#.*//' -e 's/[[:space:]]//g' -e '/^$/d' tools/packages.txt)
# Debian's npm cannot stand beside a nodejs of other origin, which brings its own.
if command -v npm >/dev/null; then
  mapfile -t wanted < <(printf '%s\n' "${wanted[@]}" | grep -vxF npm)
fi
installed=$(dpkg-query --show --showformat '${Package} ${db:Status-Status}\n' "${wanted[@]}" \
  2>/dev/null | sed -n 's/ installed$//p' || true)
mapfile -t missing < <(printf '%s\n' "${wanted[@]}" | grep -vxF "$installed" || true)
[[ ${#missing[@]} -gt 0 ]] || exit 0

grep -qs '^VERSION_ID="12"' /etc/os-release ||
  echo "setup: this is not Debian 12; some packages may have other names or versions" >&2
as_root=()
if [[ $(id -u) -ne 0 ]]; then
  command -v sudo >/dev/null ||
    die "not root, and no sudo. As root: apt-get install --no-install-recommends ${missing[*]}"
  as_root=(sudo)
fi
echo "setup: installing ${missing[*]}"

# nginx and prometheus are here for their programs. Debian starts a package's service unless
# policy-rc.d answers 101 (invoke-rc.d and deb-systemd-invoke both ask it), so one stands there
# during the installation, and afterwards the new services are disabled for the next boot. A policy
# or a service that was there before is left as it is.
policy=/usr/sbin/policy-rc.d
placed_policy=false
remove_policy() {
  if $placed_policy; then "${as_root[@]}" rm -f "$policy"; fi
}
trap remove_policy EXIT
if [[ ! -e $policy ]]; then
  placed_policy=true
  printf '#!/bin/sh\nexit 101\n' | "${as_root[@]}" tee "$policy" >/dev/null
  "${as_root[@]}" chmod 755 "$policy"
fi

apt=("${as_root[@]}" env DEBIAN_FRONTEND=noninteractive apt-get -q -o DPkg::Lock::Timeout=600)
"${apt[@]}" update
"${apt[@]}" install -y --no-install-recommends "${missing[@]}"

if command -v systemctl >/dev/null; then
  for package in "${missing[@]}"; do
    case $package in
      nginx-light) "${as_root[@]}" systemctl disable --quiet nginx.service ;;
      prometheus) "${as_root[@]}" systemctl disable --quiet prometheus.service ;;
    esac
  done
fi
