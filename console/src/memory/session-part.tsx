import { useEffect, useState } from "react";

import { all, post, remove, sentence, sessionPath } from "../api/client";
import { events } from "../api/events";
import type { Memory, Observation } from "../api/shapes";
import { useHouse, useHouseState } from "../house";
import { PlaceName } from "../parts/place";
import { toast } from "../parts/toasts";
import { useAnswer } from "../parts/use-answer";
import { useTab } from "../tab";
import { count, titleOf } from "../words";
import { ForgetDialog } from "./forget-dialog";
import { Kept } from "./kept";

export function SessionPart() {
  const house = useHouse();
  const { sessions, projects } = useHouseState();
  const mine = useTab().session;
  const listed = [...sessions.values()].sort((one, other) => other.updated_at.localeCompare(one.updated_at));
  const [chosen, setChosen] = useState<string | null>(null);
  const id = chosen ?? (sessions.has(mine) ? mine : (listed[0]?.external_id ?? null));
  const session = id === null ? undefined : sessions.get(id);
  const memories = useAnswer(id, (of, signal) => all<Memory>(sessionPath(of, "/memories"), 10_000, signal));
  const notes = useAnswer(id, (of, signal) => all<Observation>(sessionPath(of, "/observations"), 10_000, signal));
  const [forgetting, setForgetting] = useState<Memory | "all" | null>(null);
  const [looking, setLooking] = useState(false);
  const [askMemories, askNotes] = [memories.again, notes.again];

  useEffect(
    () =>
      events.listen((event) => {
        if (event.type === "reset" || event.session_id === id) {
          askMemories();
          askNotes();
        }
      }),
    [id, askMemories, askNotes],
  );

  if (!session || id === null) return <p className="empty">No conversations yet. What is worth remembering of one is shown here.</p>;
  const title = titleOf(session, id);
  const again = () => {
    askMemories();
    askNotes();
    void house.readSession(id);
  };
  const lookNow = async () => {
    setLooking(true);
    try {
      const done = await post<{ appended: number; checked_messages: number }>(sessionPath(id, "/extract"));
      toast(`Read ${count(done.checked_messages, "message")}: ${count(done.appended, "new memory", "new memories")}.`);
      again();
    } catch (error) {
      toast(sentence(error));
    } finally {
      setLooking(false);
    }
  };
  return (
    <>
      <div className="toolbar">
        <label className="field inline">
          <span>Conversation</span>
          <select value={id} onChange={(event) => setChosen(event.target.value)}>
            {listed.map((each) => <option key={each.external_id} value={each.external_id}>{titleOf(each, each.external_id)}</option>)}
          </select>
        </label>
        <PlaceName project={session.project_id} projects={projects} />
        <span className="spacer" />
        {house.mayWrite && <button type="button" onClick={() => void lookNow()} disabled={looking}>{looking ? "Extracting…" : "Extract memories now"}</button>}
      </div>
      {session.last_extraction_error && <p className="trouble">The last extraction failed: {session.last_extraction_error}</p>}
      {(memories.problem ?? notes.problem) && <p className="trouble" role="alert">{memories.problem ?? notes.problem}</p>}
      <section aria-label="Memories">
        <h2>Memories</h2>
        {memories.answer && (
          <Kept
            kept={memories.answer}
            empty="No memories yet. After every few replies the server looks for what is worth remembering."
            onChanged={again}
            {...(house.mayWrite ? { onForget: setForgetting } : {})}
          />
        )}
      </section>
      <section aria-label="Summaries">
        <h2>Summaries</h2>
        <p className="hint">Summaries of older messages.</p>
        {notes.answer && <Kept kept={notes.answer} empty="No summaries yet." onChanged={again} />}
      </section>
      {house.mayWrite && session.message_count > 0 && (
        <p><button type="button" className="grave" onClick={() => setForgetting("all")}>Clear this conversation…</button></p>
      )}
      {forgetting === "all" && (
        <ForgetDialog
          title={`Clear “${title}”`}
          going={[
            count(session.message_count, "message"),
            ...(memories.answer ?? []).map((memory) => `the memory “${memory.content}”`),
            ...(notes.answer ?? []).map((note) => `the summary “${note.content}”`),
          ]}
          stays="The conversation itself stays, empty."
          act={() => post(sessionPath(id, "/clear"))}
          onDone={again}
          onClose={() => setForgetting(null)}
        />
      )}
      {forgetting !== null && forgetting !== "all" && (
        <ForgetDialog
          title="Forget a memory"
          going={[`the memory “${forgetting.content}”`]}
          stays="The messages it came from stay, and are not read for memories again."
          act={() => remove(`/v1/memories/${forgetting.id}`)}
          onDone={again}
          onClose={() => setForgetting(null)}
        />
      )}
    </>
  );
}
