import { useState, type ReactNode } from "react";

import { sentence } from "../api/client";
import { Dialog } from "../parts/dialog";

interface Props {
  title: string;
  /** What goes, as a list for people to read before it does. */
  going: ReactNode[];
  stays?: string;
  /** What the button says. */
  verb?: string;
  act: () => Promise<unknown>;
  onDone: () => void;
  onClose: () => void;
}

export function ForgetDialog({ title, going, stays, verb = "Forget", act, onDone, onClose }: Props) {
  const [problem, setProblem] = useState<string | null>(null);
  const forget = async () => {
    try {
      await act();
      onDone();
      onClose();
    } catch (error) {
      setProblem(sentence(error));
    }
  };
  return (
    <Dialog title={title} onClose={onClose}>
      <div className="consequence final">
        <p>This is deleted for good:</p>
        <ul className="going">{going.map((item, number) => <li key={number} dir="auto">{item}</li>)}</ul>
      </div>
      {stays && <p className="hint">{stays}</p>}
      {problem && <p className="trouble" role="alert">{problem}</p>}
      <div className="actions">
        <button type="button" onClick={onClose} autoFocus>Cancel</button>
        <button type="button" className="grave" onClick={() => void forget()}>{verb}</button>
      </div>
    </Dialog>
  );
}
