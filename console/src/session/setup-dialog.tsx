import { useState } from "react";

import { sentence } from "../api/client";
import type { Session } from "../api/shapes";
import { RECALL_ONLY, useHouse, useHouseState } from "../house";
import { Dialog } from "../parts/dialog";
import { toast } from "../parts/toasts";
import { NO_MEMORY_IN_PROMPT } from "../words";
import { HiddenHere } from "./hidden-here";

const PLACEHOLDERS = ["{MEMORY.CONTEXT}", "{RELEVANT.HISTORY}", "{ENTITIES}", "{OBSERVATIONS}"];

interface Props {
  id: string;
  /** Null: it is created, in this project. */
  session: Session | null;
  project: string | null;
  onClose: () => void;
}

/** The model and the system prompt of one conversation, instead of the project's. */
export function SetupDialog({ id, session, project, onClose }: Props) {
  const house = useHouse();
  const { models } = useHouseState();
  const [model, setModel] = useState(session?.model ?? "");
  const [prompt, setPrompt] = useState(session?.system_prompt ?? "");
  const [problem, setProblem] = useState<string | null>(null);
  const listed = models?.filter((each) => each !== RECALL_ONLY) ?? [];
  const lacks = prompt.trim() !== "" && !PLACEHOLDERS.some((each) => prompt.includes(each));
  const save = async () => {
    const fields = { model: model || null, system_prompt: prompt.trim() ? prompt : null };
    try {
      const saved = await (session ? house.change(id, fields) : house.create(id, { ...fields, project_id: project }));
      if (saved.warnings.length > 0) toast(NO_MEMORY_IN_PROMPT, { seconds: 10 });
      onClose();
    } catch (error) {
      setProblem(sentence(error));
    }
  };
  return (
    <Dialog title="Model and prompt of this conversation" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void save();
        }}
      >
        <label className="field">
          <span>Model</span>
          <select value={model} disabled={listed.length === 0} onChange={(event) => setModel(event.target.value)}>
            <option value="">{listed[0] ? `Server’s default: ${listed[0]}` : models ? "No model connected" : "Loading…"}</option>
            {listed.map((each) => <option key={each} value={each}>{each}</option>)}
            {session?.model && !listed.includes(session.model) && <option value={session.model}>{session.model}</option>}
          </select>
        </label>
        <label className="field">
          <span>System prompt</span>
          <textarea rows={7} value={prompt} dir="auto" maxLength={20_000} placeholder="Empty: the project’s prompt" onChange={(event) => setPrompt(event.target.value)} />
        </label>
        <p className="hint">Without these placeholders the model receives no memory: {PLACEHOLDERS.map((each) => <code key={each}>{each} </code>)}</p>
        {lacks && <p className="consequence" role="status">This prompt has none of them: in this conversation the model will receive no memory.</p>}
        {session && <HiddenHere session={id} onLeave={onClose} />}
        {problem && <p className="trouble" role="alert">{problem}</p>}
        <div className="actions">
          <button type="button" onClick={onClose}>Cancel</button>
          <button type="submit" className="primary">Save</button>
        </div>
      </form>
    </Dialog>
  );
}
