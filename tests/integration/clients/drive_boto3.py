"""Drives boto3, whichever the interpreter has, as scripted.py asks."""

import boto3
from botocore.config import Config

from drive import serve


def answer(order):
    client = boto3.client("s3", endpoint_url=order["url"], region_name=order["region"],
                          aws_access_key_id=order["access"],
                          aws_secret_access_key=order["secret"],
                          config=Config(retries={"total_max_attempts": 1}))
    bucket = order["bucket"]
    if order["do"] == "keys":
        pages = client.get_paginator("list_objects_v2").paginate(
            Bucket=bucket, PaginationConfig={"PageSize": 5})
        return [one["Key"] for page in pages for one in page.get("Contents", [])]
    for key, file in order["items"]:
        if order["do"] == "put":
            client.upload_file(file, bucket, key)
        else:
            client.download_file(bucket, key, file)
    return None


serve(answer)
