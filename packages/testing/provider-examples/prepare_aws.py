"""What examples of the amazon provider expect in the account they run in; prints it as JSON: their variables, by name.

    <environment with boto3>/bin/python prepare_aws.py <address of moto>
"""

from __future__ import annotations

import json
import sys

import boto3

MAIL = "ada@example.org"


def main(url: str) -> None:
    def client(name: str):
        return boto3.client(
            name, endpoint_url=url, region_name="us-east-1", aws_access_key_id="test", aws_secret_access_key="test"
        )

    role = client("iam").create_role(RoleName="example", AssumeRolePolicyDocument="{}")["Role"]["Arn"]
    client("ses").verify_email_identity(EmailAddress=MAIL)
    client("s3").create_bucket(Bucket="bucket-aws-example-file-transfer-local-to-s3-example")
    client("events").create_event_bus(Name="custom-bus")
    subnets = [one["SubnetId"] for one in client("ec2").describe_subnets()["Subnets"]]
    groups = [one["GroupId"] for one in client("ec2").describe_security_groups()["SecurityGroups"]]
    client("redshift").create_cluster_subnet_group(
        ClusterSubnetGroupName="example", Description="example", SubnetIds=subnets[:1]
    )
    found = {
        "ROLE_ARN": role,
        "SES_VERIFIED_EMAIL": MAIL,
        "SUBNETS": ",".join(subnets),
        "SECURITY_GROUP": groups[0],
        "SECURITY_GROUPS": groups[0],
        "CLUSTER_SUBNET_GROUP": "example",
        "ACCOUNT_ID": "123456789012",
    }
    sys.stdout.write(json.dumps(found))


if __name__ == "__main__":
    main(sys.argv[1])
