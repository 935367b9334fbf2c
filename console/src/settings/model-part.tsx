import { get } from "../api/client";
import { CopyButton } from "../parts/copy-button";
import { useAnswer } from "../parts/use-answer";
import { ModelTestButton } from "./model-test";

const RECALL_ONLY = "recall-only";
const MOST_NAMED = 20;
export const HOW = `export CLOISTER_MODEL_URL=http://127.0.0.1:11434/v1   # Ollama, for one
export CLOISTER_MODEL_NAME=qwen3:8b                   # where it has several
export CLOISTER_MODEL_KEY=…                           # where it asks for one
cloister serve`;

interface Models {
  data: { id: string; kind: "chat" | "embedding" }[];
}

export function ModelPart() {
  const models = useAnswer("/v1/models", (path, signal) => get<Models>(path, signal));
  const name = models.answer?.data[0]?.id;
  const others = models.answer?.data.filter((each) => each.kind === "chat").slice(1, 1 + MOST_NAMED).map(({ id }) => id) ?? [];
  return (
    <>
      {models.problem && <p className="trouble" role="alert">{models.problem}</p>}
      {name !== undefined && name !== RECALL_ONLY && <p className="lead">Connected model: <strong>{name}</strong></p>}
      {others.length > 0 && <p>Also there: {others.join(", ")}. Choose one for a chat by the model’s name at its top; all others use {name}.</p>}
      {name !== undefined && name !== RECALL_ONLY && <ModelTestButton />}
      {name === RECALL_ONLY && (
        <>
          <p className="lead">No model connected.</p>
          <p>Replies show what is remembered, and where it was said. For real replies, connect a model.</p>
        </>
      )}
      <h2>Connect a model</h2>
      <p>Any endpoint with OpenAI’s chat interface works: OpenAI, vLLM, Ollama, llama.cpp, LM Studio. Set these, and restart the server:</p>
      <div className="code-block"><pre tabIndex={0}><code>{HOW}</code></pre><CopyButton text={() => HOW} label="Copy" /></div>
    </>
  );
}
