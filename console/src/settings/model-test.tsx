import { useState } from "react";

import { sentence } from "../api/client";
import { testModel, type ModelTest } from "../api/organisation";
import { useHouse } from "../house";

type Outcome = "asking" | ModelTest;

/** A button that asks the connected model for one short reply. */
export function ModelTestButton() {
  const house = useHouse();
  const [state, setState] = useState<Outcome | null>(null);
  if (!house.isAdmin) return null;
  const test = async () => {
    setState("asking");
    setState(await testModel().catch((error: unknown) => ({ ok: false, model: null, seconds: null, detail: sentence(error) })));
  };
  return (
    <div className="model-test">
      <button type="button" disabled={state === "asking"} onClick={() => void test()}>{state === "asking" ? "Testing…" : "Test the model"}</button>
      <span role="status">{resultOf(state)}</span>
    </div>
  );
}

function resultOf(state: Outcome | null): string {
  if (state === null || state === "asking") return "";
  if (!state.ok) return state.detail;
  return `${state.model ?? "The model"} answers${state.seconds === null ? "" : ` (${state.seconds.toLocaleString(undefined, { maximumFractionDigits: 1 })} s)`}.`;
}
