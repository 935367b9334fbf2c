import { get } from "../api/client";
import { CopyButton } from "../parts/copy-button";
import { useAnswer } from "../parts/use-answer";

const RECALL_ONLY = "recall-only";
const HOW = `export CLOISTER_MODEL_URL=http://127.0.0.1:11434/v1   # Ollama, for one
export CLOISTER_MODEL_NAME=qwen3:8b                   # where it has several
export CLOISTER_MODEL_KEY=…                           # where it asks for one
cloister serve`;

interface Models {
  data: { id: string }[];
}

export function ModelPart() {
  const models = useAnswer("/v1/models", (path, signal) => get<Models>(path, signal));
  const name = models.answer?.data[0]?.id;
  return (
    <>
      {models.problem && <p className="trouble" role="alert">{models.problem}</p>}
      {name !== undefined && name !== RECALL_ONLY && <p className="lead">Replies are written by <strong>{name}</strong>.</p>}
      {name === RECALL_ONLY && (
        <>
          <p className="lead">No model: <strong>recall-only</strong>.</p>
          <p>Replies quote what is remembered here, with where it was said. That is enough to try the walls by hand; for real replies, connect a model.</p>
        </>
      )}
      <h2>Connect a model</h2>
      <p>Any endpoint that speaks OpenAI’s chat interface will do: OpenAI, vLLM, Ollama, llama.cpp, LM Studio. Say where it is, and start the server again:</p>
      <div className="code-block"><pre tabIndex={0}><code>{HOW}</code></pre><CopyButton text={() => HOW} label="Copy" /></div>
    </>
  );
}
