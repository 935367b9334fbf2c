/** Two example projects, to be created and thrown away: the same question gets an answer of its own in each. */

import { useState } from "react";

import { post, remove, sentence, sessionPath } from "../api/client";
import { createSession } from "../api/sessions";
import type { Hit, Project } from "../api/shapes";
import { drafts } from "../chat/composer/drafts";
import { useHouse, useHouseState } from "../house";
import { PlaceName } from "../parts/place";
import { toast } from "../parts/toasts";
import { tab } from "../tab";

const QUESTION = "What is the door code?";
const EXAMPLES = [
  { name: "Example: Home", title: "The door at home", said: "The door code is 4417." },
  { name: "Example: Office", title: "The door of the office", said: "The door code is 9062." },
] as const;

export function TryTheWall() {
  const house = useHouse();
  const { projects, sessions } = useHouseState();
  const [busy, setBusy] = useState(false);
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
  const discard = async () => {
    for (const project of made) {
      for (const session of sessions.values()) if (session.project_id === project.project_id) await remove(sessionPath(session.external_id));
      await remove(`/org/projects/${project.project_id}`);
    }
    setAnswers(new Map());
    await house.readAll();
    toast("The example projects are gone.");
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
            <button type="button" className="grave" disabled={busy} onClick={() => void attempt(discard)}>Throw the examples away</button>
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
    </section>
  );
}
