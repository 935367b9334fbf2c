/** Brings conversations from another program: a file is chosen, looked into, and then imported into one project. */

import { useEffect, useRef, useState } from "react";

import { sentence } from "../api/client";
import { importArchive, importFile, previewImport, type ImportPreview, type ImportResult } from "../api/organisation";
import { placeOfNew } from "../chat/new-chat";
import { useHouse, useHouseState } from "../house";
import { Icon } from "../parts/icon";
import { PlacePicker } from "../parts/place";
import { follow, go, projectAddress } from "../router";
import { count, placeHint, placeName } from "../words";
import { Counts, FORMAT_NAMES, formatName, Preview } from "./preview";

const NOTHING_CHOSEN = { step: "choose", problem: null, failed: null } as const;

type State =
  /** With the file that could not be read, if one could not. */
  | { step: "choose"; problem: string | null; failed: File | null }
  | { step: "reading"; file: File; part: number }
  | { step: "preview"; file: File; preview: ImportPreview; problem: string | null }
  | { step: "importing"; file: File; part: number }
  | { step: "done"; result: ImportResult; project: string | null; isArchive: boolean };

export function ImportPage() {
  const house = useHouse();
  const { projects } = useHouseState();
  const [state, setState] = useState<State>(NOTHING_CHOSEN);
  const [format, setFormat] = useState("");
  const [chosen, setChosen] = useState<string | null | undefined>(undefined);
  const project = placeOfNew(chosen, house.me, projects);
  useEffect(() => {
    document.title = "Import · Cloister";
  }, []);
  const read = async (file: File) => {
    setState({ step: "reading", file, part: 0 });
    try {
      const preview = await previewImport(file, format, (part) => setState({ step: "reading", file, part }));
      setState({ step: "preview", file, preview, problem: null });
    } catch (error) {
      setState({ step: "choose", problem: refusedSentence(file, error), failed: file });
    }
  };
  const act = async (file: File, preview: ImportPreview) => {
    const isArchive = preview.format === "cloister";
    const onProgress = (part: number) => setState({ step: "importing", file, part });
    onProgress(0);
    try {
      const result = isArchive ? await importArchive(file, onProgress) : await importFile(file, project, format, onProgress);
      await house.readAll();
      setState({ step: "done", result, project, isArchive });
    } catch (error) {
      setState({ step: "preview", file, preview, problem: sentence(error) });
    }
  };
  const again = () => {
    setChosen(undefined);
    setFormat("");
    setState(NOTHING_CHOSEN);
  };
  const target = state.step === "preview" && state.preview.format !== "cloister" ? (project === null ? " into no project" : ` into ${placeName(project, projects)}`) : "";
  return (
    <div className="page">
      <h1>Import</h1>
      {!house.isAdmin ? (
        <p className="empty">Only an admin key may import.</p>
      ) : state.step === "choose" ? (
        <Choose problem={state.problem} failed={state.failed} format={format} onFormat={setFormat} onFile={(file) => void read(file)} />
      ) : state.step === "reading" || state.step === "importing" ? (
        <Working what={state.step === "reading" ? "Reading" : "Importing"} file={state.file} part={state.part} />
      ) : state.step === "preview" ? (
        <>
          <Preview name={state.file.name} preview={state.preview} />
          {state.preview.format !== "cloister" && (
            <>
              <h2>Into which project?</h2>
              <div><PlacePicker value={project} projects={projects} label="Project of the import" onChange={setChosen} shared={!house.me.confined} /></div>
              <p className="hint">{placeHint(project)} What you import is remembered there, and nowhere else.</p>
            </>
          )}
          {state.problem && <p className="trouble" role="alert">{state.problem}</p>}
          <div className="actions start">
            <button type="button" className="primary" disabled={state.preview.messages + state.preview.memories === 0} onClick={() => void act(state.file, state.preview)}>Import{target}</button>
            <button type="button" onClick={again}>Choose another file</button>
          </div>
        </>
      ) : (
        <Done state={state} projectName={placeName(state.project, projects)} onAgain={again} />
      )}
    </div>
  );
}

/** What the server has against a file, as a sentence about it. */
function refusedSentence(file: File, error: unknown): string {
  const said = sentence(error);
  const choice = said.replace(/(if you know it, )?use one of .* as the format\.$/, "if you know which it is, choose it as the format below.");
  return choice.startsWith("file: ") ? `“${file.name}” ${choice.slice("file: ".length)}` : `“${file.name}”: ${choice}`;
}

interface ChooseProps {
  problem: string | null;
  failed: File | null;
  format: string;
  onFormat: (format: string) => void;
  onFile: (file: File) => void;
}

function Choose({ problem, failed, format, onFormat, onFile }: ChooseProps) {
  const picker = useRef<HTMLInputElement>(null);
  return (
    <>
      <p className="lead">Bring your conversations along.</p>
      <p>Choose the file that another assistant gave you. You will see what is in it before anything is stored.</p>
      <ul className="plain-list">
        {Object.entries(FORMAT_NAMES).map(([format, name]) => <li key={format}>{name}</li>)}
      </ul>
      <div
        className="drop-file"
        onDragOver={(event) => event.dataTransfer.types.includes("Files") && event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          const file = event.dataTransfer.files[0];
          if (file) onFile(file);
        }}
      >
        <input
          ref={picker}
          type="file"
          hidden
          accept=".json,.jsonl,.ndjson,.zip"
          aria-label="File to import"
          onChange={(event) => {
            const file = event.target.files?.[0];
            if (file) onFile(file);
          }}
        />
        <button type="button" className="primary" onClick={() => picker.current?.click()}><Icon name="file" /> Choose a file</button>
        <span className="hint">or drop it here: .json, .jsonl or .zip, up to 512 MB</span>
      </div>
      {problem && <p className="trouble" role="alert">{problem}</p>}
      <div className="toolbar">
        <label className="field inline">
          <span>Format</span>
          <select value={format} onChange={(event) => onFormat(event.target.value)}>
            <option value="">find out</option>
            {Object.keys(FORMAT_NAMES).map((each) => <option key={each} value={each}>{formatName(each)}</option>)}
          </select>
        </label>
        {failed && <button type="button" onClick={() => onFile(failed)}>Read “<bdi>{failed.name}</bdi>” again</button>}
      </div>
    </>
  );
}

function Working({ what, file, part }: { what: string; file: File; part: number }) {
  const isSent = part >= 1;
  return (
    <>
      <p role="status">{what} “<bdi>{file.name}</bdi>”…{isSent ? " This can take a while." : ""}</p>
      <progress aria-label={what} max={1} {...(isSent ? {} : { value: part })} />
    </>
  );
}

function Done({ state, projectName, onAgain }: { state: Extract<State, { step: "done" }>; projectName: string; onAgain: () => void }) {
  const { result, project, isArchive } = state;
  const address = projectAddress(project, "conversations");
  const there = (result.unchanged["messages"] ?? 0) + (result.unchanged["memories"] ?? 0);
  return (
    <>
      <p className="lead" role="status">
        {Object.values(result.added).every((each) => each === 0) ? "Nothing new: " : ""}Imported {count(result.added["sessions"] ?? 0, "conversation")}, {count(result.added["messages"] ?? 0, "message")}
        {result.added["memories"] ? `, ${count(result.added["memories"], "memory", "memories")}` : ""}.
      </p>
      {there > 0 && <p>{count(there, "item")} {there === 1 ? "was" : "were"} here already, and {there === 1 ? "stays as it was" : "stay as they were"}.</p>}
      <Counts title="Not imported" counts={result.skipped} />
      <Counts title="Good to know" counts={result.remarks} joint=" " />
      <div className="actions start">
        {!isArchive && <a href={address} onClick={(event) => follow(event, () => go(address))}>Open {projectName}</a>}
        <button type="button" onClick={onAgain}>Import another file</button>
      </div>
    </>
  );
}
