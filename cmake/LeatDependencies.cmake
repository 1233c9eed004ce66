# Third-party libraries, all from Debian 12 (docs/reference/dependencies.md says why each is here).
# A library is linked by one module only; the others reach it through that module's interface.
find_package(Threads REQUIRED)
find_package(fmt 9 REQUIRED)
find_package(GTest REQUIRED)
find_package(OpenSSL 3 REQUIRED)
find_package(nlohmann_json 3.11 REQUIRED)
find_package(pugixml 1.13 REQUIRED)
find_package(Boost 1.81 REQUIRED)
find_package(PkgConfig REQUIRED)
pkg_check_modules(uring REQUIRED IMPORTED_TARGET liburing)
pkg_check_modules(isal REQUIRED IMPORTED_TARGET libisal)
pkg_check_modules(rocksdb REQUIRED IMPORTED_TARGET rocksdb>=7.8)
pkg_check_modules(sqlite REQUIRED IMPORTED_TARGET sqlite3>=3.40)
pkg_check_modules(jpeg REQUIRED IMPORTED_TARGET libjpeg>=2.1)
pkg_check_modules(png REQUIRED IMPORTED_TARGET libpng>=1.6)
pkg_check_modules(webp REQUIRED IMPORTED_TARGET libwebp>=1.2)
find_path(TOMLPLUSPLUS_INCLUDE toml++/toml.h REQUIRED)
find_path(CLI11_INCLUDE CLI/CLI.hpp REQUIRED)

# Third-party headers are SYSTEM includes, so that -Werror judges our code alone.
add_library(leat_asio INTERFACE)
target_include_directories(leat_asio SYSTEM INTERFACE ${Boost_INCLUDE_DIRS})
target_compile_definitions(leat_asio INTERFACE
  BOOST_ASIO_NO_DEPRECATED BOOST_ASIO_HAS_CO_AWAIT BOOST_ASIO_DISABLE_BOOST_REGEX
  # Coroutine frames that a shard keeps for reuse instead of asking the allocator again.
  BOOST_ASIO_RECYCLING_ALLOCATOR_CACHE_SIZE=8)
target_link_libraries(leat_asio INTERFACE Threads::Threads)

# The shared library: the static one lacks the compressions' own libraries.
add_library(leat_rocksdb INTERFACE)
target_include_directories(leat_rocksdb SYSTEM INTERFACE ${rocksdb_INCLUDE_DIRS})
target_link_libraries(leat_rocksdb INTERFACE PkgConfig::rocksdb Threads::Threads)
