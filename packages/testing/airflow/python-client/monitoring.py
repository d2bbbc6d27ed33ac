from airflow_client.client import (
    EventLogApi,
    JobApi,
    LoginApi,
    MonitorApi,
    VersionApi,
)
from airflow_client.client.exceptions import ForbiddenException, NotFoundException, UnauthorizedException

from harness import same


def exercise(harness):
    health_and_version(harness)
    jobs(harness)
    event_logs(harness)
    login_pages(harness)


def health_and_version(harness):
    """In Airflow these two are public, so the client sends no token with them unless it is told to."""
    token = {"Authorization": f"Bearer {harness.client.configuration.access_token}"}
    health = MonitorApi(harness.client).get_health(_headers=token)
    same(health.metadatabase.status, "healthy")
    version = VersionApi(harness.client).get_version(_headers=token)
    assert version.version.count(".") == 2, version
    for call in (MonitorApi(harness.client).get_health, VersionApi(harness.client).get_version):
        with harness.refused(UnauthorizedException, "token"):
            call()


def jobs(harness):
    api = JobApi(harness.client)
    [scheduler] = api.get_jobs(job_type="SchedulerJob", is_alive=True, order_by=["-latest_heartbeat"]).jobs
    same((scheduler.state, scheduler.end_date), ("running", None))
    same(api.get_jobs(start_date_gt=scheduler.start_date).total_entries, 0)
    same(api.get_jobs(job_state="failed", hostname="elsewhere").total_entries, 0)


def event_logs(harness):
    api = EventLogApi(harness.client)
    page = api.get_event_logs(limit=5, order_by=["-when"])
    assert 0 < len(page.event_logs) <= 5 and page.total_entries >= len(page.event_logs), page
    newest = page.event_logs[0]
    same(api.get_event_log(newest.event_log_id), newest)
    logins = api.get_event_logs(event="login", owner=newest.owner, included_events=["login"])
    assert {entry.event for entry in logins.event_logs} == {"login"}, logins
    with harness.refused(NotFoundException):
        api.get_event_log(2_000_000_000)
    with harness.refused(ForbiddenException, "read:audit_log"):
        EventLogApi(harness.viewer).get_event_logs()


def login_pages(harness):
    """Redirects to pages for people: the client follows them and gets a page."""
    pages = LoginApi(harness.stranger)
    assert "<html" in pages.login_without_preload_content(next="/dags").data.decode().lower()
    assert "<html" in pages.logout_without_preload_content().data.decode().lower()
