// Drives @aws-sdk/client-s3 and @aws-sdk/lib-storage as scripted.py asks.
"use strict";

const fs = require("fs");
const { pipeline } = require("stream/promises");
const s3 = require("@aws-sdk/client-s3");
const { Upload } = require("@aws-sdk/lib-storage");

const { serve } = require("./drive.cjs");

const MIB = 1 << 20;

// Small ones as a buffer, which is hashed; then as a stream, which is framed in chunks with a
// trailer; large ones in parts.
async function put(client, bucket, key, file, number) {
  const size = fs.statSync(file).size;
  if (size > 5 * MIB) {
    const upload = { Bucket: bucket, Key: key, Body: fs.createReadStream(file) };
    const partSize = Math.max(5 * MIB, Math.ceil(size / 9000));
    await new Upload({ client, params: upload, partSize }).done();
  } else if (number % 2 === 0) {
    const body = fs.readFileSync(file);
    await client.send(new s3.PutObjectCommand({ Bucket: bucket, Key: key, Body: body }));
  } else {
    const body = fs.createReadStream(file);
    const put = { Bucket: bucket, Key: key, Body: body, ContentLength: size };
    await client.send(new s3.PutObjectCommand(put));
  }
}

async function keys(client, bucket) {
  const found = [];
  for await (const page of s3.paginateListObjectsV2({ client, pageSize: 5 }, { Bucket: bucket })) {
    found.push(...(page.Contents || []).map((one) => one.Key));
  }
  return found;
}

async function answer(order) {
  const client = new s3.S3Client({
    endpoint: order.url,
    region: order.region,
    forcePathStyle: true,
    credentials: { accessKeyId: order.access, secretAccessKey: order.secret },
    maxAttempts: 1,
  });
  if (order.do === "keys") {
    return keys(client, order.bucket);
  }
  for (const [number, [key, file]] of order.items.entries()) {
    if (order.do === "put") {
      await put(client, order.bucket, key, file, number);
    } else {
      const got = await client.send(new s3.GetObjectCommand({ Bucket: order.bucket, Key: key }));
      await pipeline(got.Body, fs.createWriteStream(file));
    }
  }
  return null;
}

serve(answer);
