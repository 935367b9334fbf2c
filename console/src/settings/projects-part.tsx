import { useEffect, useState } from "react";

import { patch, post, sentence } from "../api/client";
import { events } from "../api/events";
import type { Project } from "../api/shapes";
import { useHouse, useHouseState } from "../house";
import { PageLink } from "../parts/page";
import { PlaceMark } from "../parts/place";
import { soonAfter } from "../parts/use-pages";
import { toast } from "../parts/toasts";
import { count } from "../words";
import { DeleteProject } from "./delete-project";
import { ProjectForm } from "./project-form";

export function ProjectsPart() {
  const house = useHouse();
  const { projects, sessions } = useHouseState();
  const [editing, setEditing] = useState<Project | "new" | null>(null);
  const [deleting, setDeleting] = useState<Project | null>(null);
  // Memories are counted by the server, and grow after a reply: what was read with the list of conversations is old by now.
  useEffect(() => {
    void house.readProjects().catch(() => undefined);
    return events.listen(soonAfter(() => void house.readProjects().catch(() => undefined)));
  }, [house]);
  const inside = (project: Project) => [...sessions.values()].filter((session) => session.project_id === project.project_id).length;
  const makeDefault = async (project: Project) => {
    try {
      await patch(`/org/projects/${project.project_id}`, { is_default: true });
      await house.readProjects();
    } catch (error) {
      toast(sentence(error));
    }
  };
  return (
    <>
      <p className="hint">A project is a separate memory: what is said inside is remembered inside, and nowhere else. Isolation can’t be turned off.</p>
      <ul className="cards">
        {projects.map((project) => (
          <li key={project.project_id}>
            <h2><PlaceMark project={project.project_id} />{project.name}{project.is_default && <span className="kind">new chats go here</span>}</h2>
            <p>
              {count(inside(project), "conversation")}, {count(project.memory_count, "memory", "memories")}.{" "}
              {project.member_visibility === "private" ? "Each person has a memory of their own." : "All people share one memory."}
            </p>
            <p className="hint">Id, for programs: <code>{project.project_id}</code></p>
            {house.isAdmin && (
              <div className="actions">
                <button type="button" onClick={() => setEditing(project)}>Edit</button>
                {!project.is_default && <button type="button" onClick={() => void makeDefault(project)}>Make default</button>}
                {!project.is_default && <button type="button" className="grave" onClick={() => setDeleting(project)}>Delete</button>}
              </div>
            )}
          </li>
        ))}
      </ul>
      {house.isAdmin && !house.me.confined && <p><button type="button" className="primary" onClick={() => setEditing("new")}>New project</button></p>}
      {house.isAdmin && <p className="hint">Coming from another assistant? <PageLink to="/import">Import your conversations</PageLink></p>}
      {editing && (
        <ProjectForm
          project={editing === "new" ? null : editing}
          save={async (fields) => {
            const saved =
              editing === "new"
                ? await post<Project>("/org/projects", { name: fields.name, member_visibility: fields.member_visibility })
                : await patch<Project>(`/org/projects/${editing.project_id}`, fields);
            await house.readProjects();
            return saved;
          }}
          onClose={() => setEditing(null)}
        />
      )}
      {deleting && <DeleteProject project={deleting} onClose={() => setDeleting(null)} />}
    </>
  );
}
