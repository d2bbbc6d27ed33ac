"""A server that hangs up: always on one task, the first time only on the other."""

from datetime import timedelta

from airflow.sdk import DAG, task


def serve(hang_up: bool) -> int:
    """A server on the loopback interface; gives its port."""
    import socket
    import struct
    import threading

    server = socket.create_server(("127.0.0.1", 0))

    def answer() -> None:
        connection, _ = server.accept()
        connection.recv(1_024)
        if hang_up:
            connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        else:
            connection.sendall(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok")
        connection.close()

    threading.Thread(target=answer, daemon=True).start()
    return server.getsockname()[1]


with DAG("flaky_network", schedule=None):

    @task(retries=3, retry_delay=timedelta(0))
    def fetch_rates(**context) -> str:
        from urllib.request import urlopen

        port = serve(hang_up=context["ti"].try_number == 1)
        return urlopen(f"http://127.0.0.1:{port}/rates", timeout=5).read().decode()

    @task(retries=2, retry_delay=timedelta(minutes=30))
    def fetch_orders() -> str:
        from urllib.request import urlopen

        port = serve(hang_up=True)
        return urlopen(f"http://127.0.0.1:{port}/orders", timeout=5).read().decode()

    @task
    def load(rates: str, orders: str) -> None:
        print(rates, orders)

    load(fetch_rates(), fetch_orders())
