import { useState } from "react";

import { patch } from "../api/client";
import type { Project } from "../api/shapes";
import { useHouse } from "../house";
import { go, projectAddress } from "../router";
import { DeleteProject } from "../settings/delete-project";
import { ProjectForm } from "../settings/project-form";

/** How a project is set up, and its end. */
export function SettingsPart({ project }: { project: Project }) {
  const house = useHouse();
  const [doing, setDoing] = useState<"edit" | "delete" | null>(null);
  const prompt = project.settings.system_prompt;
  return (
    <>
      <dl className="facts">
        <dt>Memory</dt>
        <dd>{project.member_visibility === "private" ? "private: each person has their own" : "shared: everybody has the same"}</dd>
        <dt>Summaries</dt>
        <dd>{project.settings.observation_scope === "user" ? "shown to all conversations of the same user" : "shown to their own conversation"}</dd>
        <dt>System prompt</dt>
        <dd dir="auto" className="prompt">{prompt ?? "the built-in prompt"}</dd>
        <dt>Id, for programs</dt>
        <dd><code>{project.project_id}</code></dd>
      </dl>
      {project.warnings.map((warning) => <p key={warning} className="consequence">{warning}</p>)}
      {house.isAdmin ? (
        <div className="actions start">
          <button type="button" onClick={() => setDoing("edit")}>Edit project</button>
          {!project.is_default && <button type="button" className="grave" onClick={() => setDoing("delete")}>Delete project…</button>}
        </div>
      ) : (
        <p className="hint">Only an admin key may change a project.</p>
      )}
      {doing === "edit" && (
        <ProjectForm
          project={project}
          save={async (fields) => {
            const saved = await patch<Project>(`/org/projects/${project.project_id}`, fields);
            await house.readProjects();
            return saved;
          }}
          onClose={() => setDoing(null)}
        />
      )}
      {doing === "delete" && <DeleteProject project={project} onDone={() => go(projectAddress(null))} onClose={() => setDoing(null)} />}
    </>
  );
}
