import type { ImportPreview } from "../api/organisation";
import { Day } from "../parts/when";
import { day } from "../times";
import { count } from "../words";

export const FORMAT_NAMES: Record<string, string> = {
  chatgpt: "ChatGPT: Settings → Data controls → Export data (the zip file, or its conversations.json)",
  claude: "Claude: Settings → Privacy → Export data (the zip file, or its conversations.json)",
  mem0: "mem0: a list of memories",
  log: "A log: messages with “role” and “content”, as a JSON list or one on each line",
  cloister: "Cloister: an archive made with “cloister export”",
};

/** The program or the kind, without where to get such a file. */
export function formatName(format: string): string {
  return FORMAT_NAMES[format]?.replace(/:.*$/, "") ?? format;
}

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
        {formatName(preview.format)}
        {first !== null && last !== null && <> · <Day moment={first} />{day(first) !== day(last) && <> to <Day moment={last} /></>}</>}
        {preview.format === "cloister" ? " · goes into the projects that the archive names" : ""}
      </p>
      <Counts title="Will be left out" counts={preview.skipped} />
      <Counts title="Good to know" counts={preview.remarks} joint=" " />
    </section>
  );
}

/** Reasons are sentences and stand behind a ×; remarks say of what they are the number. */
export function Counts({ title, counts, joint = " × " }: { title: string; counts: Record<string, number>; joint?: string }) {
  const entries = Object.entries(counts);
  if (entries.length === 0) return null;
  return (
    <>
      <h3>{title}</h3>
      <ul className="plain-list">{entries.map(([reason, number]) => <li key={reason}>{number.toLocaleString()}{joint}{reason}</li>)}</ul>
    </>
  );
}
