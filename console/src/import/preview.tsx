import type { ImportPreview } from "../api/organisation";
import { Day } from "../parts/when";
import { count } from "../words";

export const FORMAT_NAMES: Record<string, string> = {
  chatgpt: "ChatGPT: Settings → Data controls → Export data (the zip file, or its conversations.json)",
  claude: "Claude: Settings → Privacy → Export data (the zip file, or its conversations.json)",
  mem0: "mem0: a list of memories",
  log: "A log of messages with “role” and “content”, one JSON object on each line",
  cloister: "Cloister: an archive made with “cloister export”",
};

/** What is in a file, before anything of it is stored. */
export function Preview({ name, preview }: { name: string; preview: ImportPreview }) {
  const { conversations, messages, memories, first_at: first, last_at: last } = preview;
  return (
    <section aria-label="Preview">
      <h2>In “<bdi>{name}</bdi>”</h2>
      <p className="lead">
        {count(conversations, "conversation")}, {count(messages, "message")}
        {memories > 0 ? `, ${count(memories, "memory", "memories")}` : ""}
      </p>
      <p className="hint">
        {FORMAT_NAMES[preview.format]?.replace(/:.*$/, "") ?? preview.format}
        {first !== null && last !== null && <> · <Day moment={first} /> to <Day moment={last} /></>}
        {preview.format === "cloister" ? " · goes into the projects that the archive names" : ""}
      </p>
      <Counts title="Will be left out" counts={preview.skipped} />
      <Counts title="Good to know" counts={preview.remarks} />
    </section>
  );
}

export function Counts({ title, counts }: { title: string; counts: Record<string, number> }) {
  const entries = Object.entries(counts);
  if (entries.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul className="plain-list">{entries.map(([reason, number]) => <li key={reason}>{number.toLocaleString()} × {reason}</li>)}</ul>
    </>
  );
}
