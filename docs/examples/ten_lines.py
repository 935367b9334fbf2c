from cloister import Cloister

with Cloister("garden-data") as memory:
    garden = memory.create_project("Garden")
    inside = memory.create_session(project_id=garden.project_id)
    outside = memory.create_session()
    memory.record_episode(inside.external_id, "The gate code is 4417.", "Noted.")
    for place, session in {"inside": inside, "outside": outside}.items():
        hits = memory.search("What is the gate code?", session_id=session.external_id)
        print(place, "the project:", [hit.content for hit in hits])
