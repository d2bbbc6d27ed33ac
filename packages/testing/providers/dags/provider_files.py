import os
import tempfile

from airflow.providers.ftp.operators.ftp import FTPFileTransmitOperator, FTPOperation
from airflow.providers.ftp.sensors.ftp import FTPSensor
from airflow.providers.sftp.hooks.sftp import SFTPHook
from airflow.providers.sftp.operators.sftp import SFTPOperation, SFTPOperator
from airflow.providers.sftp.sensors.sftp import SFTPSensor
from airflow.providers.ssh.operators.ssh import SSHOperator
from airflow.sdk import DAG, task

PLACE = os.path.join(tempfile.gettempdir(), "svc-provider-files")

with DAG("provider_files", schedule=None):

    @task
    def write():
        os.makedirs(PLACE, exist_ok=True)
        with open(os.path.join(PLACE, "sent.txt"), "w", encoding="utf-8") as file:
            file.write("sent by a task")

    ftp = FTPFileTransmitOperator(
        task_id="ftp",
        ftp_conn_id="probe_ftp",
        local_filepath=f"{PLACE}/sent.txt",
        remote_filepath="/by-ftp.txt",
        operation=FTPOperation.PUT,
    )
    ftp_there = FTPSensor(task_id="ftp_there", ftp_conn_id="probe_ftp", path="/by-ftp.txt", poke_interval=1, timeout=30)
    sftp = SFTPOperator(
        task_id="sftp",
        ssh_conn_id="probe_sftp",
        local_filepath=f"{PLACE}/sent.txt",
        remote_filepath="/by-sftp.txt",
        operation=SFTPOperation.PUT,
    )
    sftp_there = SFTPSensor(
        task_id="sftp_there", sftp_conn_id="probe_sftp", path="/by-sftp.txt", poke_interval=1, timeout=30
    )
    command = SSHOperator(
        task_id="command", ssh_conn_id="probe_ssh", command="cat by-ftp.txt by-sftp.txt", cmd_timeout=30
    )

    @task
    def listed():
        return sorted(SFTPHook(ssh_conn_id="probe_sftp").list_directory("/"))

    write() >> ftp >> ftp_there >> sftp >> sftp_there >> command >> listed()
