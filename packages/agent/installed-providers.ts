/**
 * Lists the provider packages in a Python environment, as Airflow identifies them: by their entry point, or by
 * Airflow's own names. The list includes the connection types that they declare, for the form that edits connections.
 */
/**
 * The environment's own interpreter runs it. The metadata is a file without imports, so no other code of a provider is
 * loaded.
 */
export const LIST_PROVIDERS = `
import importlib.metadata, json, re, runpy
GROUP = "apache_airflow_provider"
def connection_types(package):
    for point in package.entry_points:
        if point.group != GROUP: continue
        try:
            file = package.locate_file(point.module.replace(".", "/") + ".py")
            return list(runpy.run_path(str(file))[point.attr]().get("connection-types") or [])
        except Exception: pass
    return []
found = {}
for package in importlib.metadata.distributions():
    about = package.metadata
    name = re.sub("[-_.]+", "-", about["Name"] or "").lower()
    points = (point.group for point in package.entry_points)
    if name.startswith("apache-airflow-providers-") or name and GROUP in points:
        links = (link.partition(",") for link in about.get_all("Project-URL") or [])
        docs = next((url.strip() for label, _, url in links if label.strip().lower() == "documentation"), None)
        entry = {"name": name, "version": package.version, "summary": about["Summary"] or "", "documentation_url": docs}
        types = connection_types(package)
        found.setdefault(name, {**entry, "connection_types": types} if types else entry)
print(json.dumps(list(found.values())))
`;
