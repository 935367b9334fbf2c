/** Two example projects, to be created and thrown away: the same question gets an answer of its own in each. */

import { useState } from "react";

import { post, sentence, sessionPath } from "../api/client";
import { deleteProject } from "../api/organisation";
import { createSession } from "../api/sessions";
import type { Hit, Project } from "../api/shapes";
import { drafts } from "../chat/composer/drafts";
import { useHouse, useHouseState } from "../house";
import { ForgetDialog } from "../memory/forget-dialog";
import { PlaceName } from "../parts/place";
import { toast } from "../parts/toasts";
import { useAnswer } from "../parts/use-answer";
import { tab } from "../tab";
import { count } from "../words";

const QUESTION = "What is the door code?";
const EXAMPLES = [
  { name: "Example: Home", title: "The door at home", said: "The door code is 4417." },
  { name: "Example: Office", title: "The door of the office", said: "The door code is 9062." },
] as const;

export function TryTheWall() {
  const house = useHouse();
  const { projects } = useHouseState();
  const [busy, setBusy] = useState(false);
  const [discarding, setDiscarding] = useState(false);
  const [answers, setAnswers] = useState<ReadonlyMap<string, string>>(new Map());
  const made = EXAMPLES.flatMap((example) => projects.find((project) => project.name === example.name) ?? []);
  const attempt = async (act: () => Promise<void>) => {
    setBusy(true);
    try {
      await act();
    } catch (error) {
      toast(sentence(error), { seconds: 10 });
    } finally {
      setBusy(false);
    }
  };
  const create = async () => {
    for (const example of EXAMPLES) {
      if (made.some((project) => project.name === example.name)) continue;
      const project = await post<Project>("/org/projects", { name: example.name });
      const id = `chat-${crypto.randomUUID()}`;
      await createSession({ external_id: id, project_id: project.project_id, title: example.title });
      await post(sessionPath(id, "/messages"), { role: "user", content: example.said });
    }
    await house.readAll();
  };
  const ask = async () => {
    const found = await Promise.all(
      made.map(async (project) => {
        const { data } = await post<{ data: Hit[] }>("/v1/search", { query: QUESTION, project_id: project.project_id, kinds: ["episodes"], limit: 5 });
        const said = data.find((hit) => hit.role === "user" && hit.content !== QUESTION);
        return [project.project_id, said?.content ?? "Nothing related."] as const;
      }),
    );
    setAnswers(new Map(found));
  };
  const open = (project: Project) => {
    tab.begin(project.project_id);
    drafts.put(tab.now.session, QUESTION);
  };
  return (
    <section aria-label="Try the wall">
      <h2>Try the wall</h2>
      <p>Two example projects know two different door codes. Ask the same question in both: each answers with its own.</p>
      {made.length < EXAMPLES.length ? (
        <p><button type="button" disabled={busy} onClick={() => void attempt(create)}>Create the example projects</button></p>
      ) : (
        <>
          <p className="actions start">
            <button type="button" className="primary" disabled={busy} onClick={() => void attempt(ask)}>Ask both: “{QUESTION}”</button>
            <button type="button" className="grave" disabled={busy} onClick={() => setDiscarding(true)}>Throw the examples away</button>
          </p>
          <ul className="cards wall">
            {made.map((project) => (
              <li key={project.project_id}>
                <h3><PlaceName project={project.project_id} projects={projects} /></h3>
                <p className="statement" role="status">{answers.get(project.project_id) ?? "Not asked yet."}</p>
                <p><button type="button" className="link" onClick={() => open(project)}>Ask in a chat</button></p>
              </li>
            ))}
          </ul>
        </>
      )}
      {discarding && <Discard projects={made} onDone={() => setAnswers(new Map())} onClose={() => setDiscarding(false)} />}
    </section>
  );
}

/** Says what is in them now: somebody may have talked in them since, or have named another project like this. */
function Discard({ projects, onDone, onClose }: { projects: readonly Project[]; onDone: () => void; onClose: () => void }) {
  const house = useHouse();
  const going = useAnswer("examples", () => Promise.all(projects.map((project) => deleteProject(project.project_id, "delete", true))));
  if (!going.answer) return going.problem ? <p className="trouble" role="alert">{going.problem}</p> : null;
  const act = async () => {
    for (const project of projects) await deleteProject(project.project_id, "delete");
  };
  return (
    <ForgetDialog
      title="Throw the examples away"
      verb="Throw away"
      going={projects.map((project, at) => {
        const { sessions = 0, messages = 0 } = going.answer?.[at]?.deleted ?? {};
        return `the project “${project.name}” with ${count(sessions, "conversation")} and ${count(messages, "message")}`;
      })}
      stays="Other projects are not changed."
      act={act}
      onDone={() => {
        onDone();
        void house.readAll();
        toast("The example projects are gone.");
      }}
      onClose={onClose}
    />
  );
}
