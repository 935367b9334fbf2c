from tempfile import TemporaryDirectory

from cloister import Cloister

with TemporaryDirectory() as data, Cloister(data) as memory:
    for name, code in {"Garden": "4417", "Office": "9020"}.items():
        project = memory.create_project(name).project_id
        said = memory.create_session(project_id=project)
        memory.record_episode(said.external_id, f"The gate code is {code}.", "Noted.")
        asking = memory.create_session(project_id=project)
        context = memory.context(asking.external_id, "What is the gate code?")
        print(name, "recalls", [item.content for item in context.relevant_history])
