from airflow_client.client import ConfigApi, DAGApi, DAGParsingApi, PluginApi, ProviderApi, TaskInstanceApi
from airflow_client.client.exceptions import ConflictException, ForbiddenException, NotFoundException
from airflow_client.client.models import UpdateHITLDetailPayload

from harness import same


def exercise(harness):
    configuration(harness)
    packages(harness)
    parsing(harness)
    questions(harness)


def configuration(harness):
    api = ConfigApi(harness.client)
    sections = {section.name: section.options for section in api.get_config().sections}
    [whole] = api.get_config(section="ui").sections
    same(whole.options, sections["ui"])
    [named] = [option for option in whole.options if option.key == "instance_name"]
    [section] = api.get_config_value("ui", "instance_name").sections
    same((section.name, section.options), ("ui", [named]))
    with harness.refused(NotFoundException, "nothing"):
        api.get_config_value("ui", "nothing")
    with harness.refused(ForbiddenException, "read:config"):
        ConfigApi(harness.viewer).get_config()


def packages(harness):
    providers = ProviderApi(harness.client).get_providers()
    assert "apache-airflow-providers-standard" in {one.package_name for one in providers.providers}, providers
    same([plugin.name for plugin in PluginApi(harness.client).get_plugins(limit=5).plugins], ["svc"])
    same(PluginApi(harness.client).import_errors().total_entries, 0)


def parsing(harness):
    """Files are compiled elsewhere here, and the answer says so."""
    token = DAGApi(harness.client).get_dag("left_behind").file_token
    with harness.refused(ConflictException, "svc deploy"):
        DAGParsingApi(harness.client).reparse_dag_file(token)
    with harness.refused(NotFoundException):
        DAGParsingApi(harness.client).reparse_dag_file("unknown")


def questions(harness):
    """A task that runs has asked something; one that is over has not."""
    api = TaskInstanceApi(harness.client)
    asked = api.get_hitl_details("~", "~", response_received=False, dag_id_pattern="left_behind")
    same([(one.subject, one.options, one.task_instance.task_id) for one in asked.hitl_details], [("Go on?", ["yes", "no"], "still_running")])
    instance = ("left_behind", "left-behind:1+~", "still_running", -1)
    same(api.get_hitl_detail(*instance).defaults, ["no"])
    same(api.get_hitl_detail_try_detail(*instance, 1).response_received, False)
    answer = UpdateHITLDetailPayload(chosen_options=["yes"], params_input={"count": 2})
    answered = api.update_hitl_detail(*instance, answer)
    same((answered.chosen_options, answered.params_input), (["yes"], {"count": 2}))
    same(api.get_hitl_detail(*instance).responded_by_user.id, answered.responded_by.id)
    with harness.refused(ConflictException, "already been updated"):
        api.update_hitl_detail(*instance, answer)
    with harness.refused(NotFoundException, "Human-in-the-loop"):
        api.get_hitl_detail("left_behind", "left-behind:1+~", "done", -1)
