import { useEffect, useState } from "react";

import { all, post, sessionPath } from "../api/client";
import { events } from "../api/events";
import type { Memory, Observation, Session } from "../api/shapes";
import { useHouse, useHouseState } from "../house";
import { MemoryRow } from "../home/memory-row";
import { PageLink } from "../parts/page";
import { PlaceName } from "../parts/place";
import { useAnswer } from "../parts/use-answer";
import { useTab } from "../tab";
import { count, titleOf } from "../words";
import { ForgetDialog } from "./forget-dialog";
import { Summaries } from "./summaries";
import { useExtraction } from "./use-extraction";

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
  const [clearing, setClearing] = useState(false);
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

  const again = () => {
    askMemories();
    askNotes();
    if (id !== null) void house.readSession(id);
  };
  const extraction = useExtraction(session, again);
  if (!session || id === null) return <p className="empty">No conversations yet. What is worth remembering of one is shown here.</p>;
  const title = titleOf(session, id);
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
        {house.mayWrite && <button type="button" onClick={() => void extraction.start()} disabled={extraction.isBusy}>{extraction.isBusy ? "Extracting…" : "Extract memories now"}</button>}
      </div>
      {extraction.isBusy && (
        <div role="status">
          <p className="hint">Reading the new messages. This can take a minute; you can leave this page meanwhile.</p>
          <progress aria-label="Extracting memories" />
        </div>
      )}
      {extraction.failure !== null && !extraction.isBusy && <ExtractionFailed why={extraction.failure} />}
      {(memories.problem ?? notes.problem) && <p className="trouble" role="alert">{memories.problem ?? notes.problem}</p>}
      <section aria-label="Memories">
        <h2>Memories</h2>
        {memories.answer?.length === 0 && <p className="empty">{nothingSentence(extraction.failure !== null, session)}</p>}
        <ul className="kept" aria-label="Memories">
          {memories.answer?.map((memory) => <MemoryRow key={memory.id} memory={memory} onChanged={again} />)}
        </ul>
      </section>
      <section aria-label="Summaries">
        <h2>Summaries</h2>
        <p className="hint">Summaries of older messages.</p>
        {notes.answer && <Summaries summaries={notes.answer} onChanged={again} />}
      </section>
      {house.mayWrite && session.message_count > 0 && (
        <p><button type="button" className="grave" onClick={() => setClearing(true)}>Clear this conversation…</button></p>
      )}
      {clearing && (
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
          onClose={() => setClearing(false)}
        />
      )}
    </>
  );
}

/** Why there are no new memories, and what to do. */
function ExtractionFailed({ why }: { why: string }) {
  return (
    <div className="trouble" role="alert">
      <p>New memories could not be extracted. The messages are all kept, and the server tries again by itself.</p>
      <p>What it said: {why}</p>
      <p>If it keeps failing, see whether <PageLink to="/settings/model">the model answers</PageLink>, then press “Extract memories now”.</p>
    </div>
  );
}

function nothingSentence(hasFailed: boolean, session: Session): string {
  if (hasFailed) return "No memories yet: the extraction failed.";
  if (session.message_count === 0) return "No memories yet. Nothing was said in this conversation.";
  return "No memories yet. After every few replies the server looks for what is worth remembering.";
}
