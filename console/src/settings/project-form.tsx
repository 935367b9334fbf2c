import { useState } from "react";

import { patch, sentence } from "../api/client";
import type { Project, ProjectSettings } from "../api/shapes";
import { Dialog } from "../parts/dialog";
import { toast } from "../parts/toasts";
import { count, NO_MEMORY_IN_PROMPT } from "../words";

interface Fields {
  name: string;
  member_visibility: "shared" | "private";
  settings: ProjectSettings;
}

interface Props {
  project: Project | null;
  save: (fields: Fields) => Promise<Project>;
  onClose: () => void;
}

const PLACEHOLDERS = ["{MEMORY.CONTEXT}", "{RELEVANT.HISTORY}", "{ENTITIES}", "{OBSERVATIONS}"];

export function ProjectForm({ project, save, onClose }: Props) {
  const [name, setName] = useState(project?.name ?? "");
  const [visibility, setVisibility] = useState(project?.member_visibility ?? "private");
  const [confirming, setConfirming] = useState<{ sessions: number; users: number } | null>(null);
  const [scope, setScope] = useState(project?.settings.observation_scope ?? "session");
  const [prompt, setPrompt] = useState(project?.settings.system_prompt ?? "");
  const [problem, setProblem] = useState<string | null>(null);
  const lacks = prompt.trim() !== "" && !PLACEHOLDERS.some((each) => prompt.includes(each));
  const choose = (to: Project["member_visibility"]) => {
    setVisibility(to);
    setConfirming(null);
  };
  const submit = async () => {
    const settings: ProjectSettings = { ...project?.settings, observation_scope: scope, system_prompt: prompt.trim() ? prompt : null };
    try {
      if (project && visibility === "shared" && project.member_visibility === "private" && !confirming) {
        setConfirming(await patch<{ sessions: number; users: number }>(`/org/projects/${project.project_id}?dry_run=true`, { member_visibility: visibility }));
        return;
      }
      const saved = await save({ name: name.trim(), member_visibility: visibility, settings });
      if (saved.warnings.length > 0) toast(NO_MEMORY_IN_PROMPT, { seconds: 10 });
      onClose();
    } catch (error) {
      setProblem(sentence(error));
    }
  };
  return (
    <Dialog title={project ? "Edit project" : "New project"} onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void submit();
        }}
      >
        <label className="field">
          <span>Name</span>
          <input value={name} dir="auto" autoFocus maxLength={255} onChange={(event) => setName(event.target.value)} />
        </label>
        <fieldset className="field">
          <legend>If several people use this project, memory is</legend>
          <label><input type="radio" name="visibility" checked={visibility === "private"} onChange={() => choose("private")} /> private: each person has their own</label>
          <label><input type="radio" name="visibility" checked={visibility === "shared"} onChange={() => choose("shared")} /> shared: everybody has the same</label>
          <p className="hint">While you alone chat here, both are the same. People are told apart where a program says who is talking.</p>
          {project && <p className="hint">A change takes effect at once, for everything that was ever said in the project.</p>}
        </fieldset>
        {project && (
          <>
            <fieldset className="field">
              <legend>Summaries are shown to</legend>
              <label><input type="radio" name="scope" checked={scope === "session"} onChange={() => setScope("session")} /> their own conversation</label>
              <label><input type="radio" name="scope" checked={scope === "user"} onChange={() => setScope("user")} /> all conversations of the same user in this project</label>
            </fieldset>
            <label className="field">
              <span>System prompt</span>
              <textarea rows={7} value={prompt} dir="auto" maxLength={20_000} placeholder="Empty: the built-in prompt" onChange={(event) => setPrompt(event.target.value)} />
            </label>
            <p className="hint">Without these placeholders the model receives no memory: {PLACEHOLDERS.map((each) => <code key={each}>{each} </code>)}</p>
            {lacks && <p className="consequence" role="status">This prompt has none of them: in this project the model will receive no memory.</p>}
          </>
        )}
        {confirming && (
          <p className="consequence" role="alert">
            {count(confirming.sessions, "conversation")} of {count(confirming.users, "user")} will be able to recall each other.
          </p>
        )}
        {problem && <p className="trouble" role="alert">{problem}</p>}
        <div className="actions">
          <button type="button" onClick={onClose}>Cancel</button>
          <button type="submit" className="primary" disabled={!name.trim()}>{confirming ? "Share" : project ? "Save" : "Create"}</button>
        </div>
      </form>
    </Dialog>
  );
}
