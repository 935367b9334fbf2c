import { get } from "../api/client";
import type { Usage } from "../api/shapes";
import { useAnswer } from "../parts/use-answer";

export function UsagePart() {
  const usage = useAnswer("/org/usage", (path, signal) => get<Usage>(path, signal));
  if (usage.problem) return <p className="trouble" role="alert">{usage.problem}</p>;
  if (!usage.answer) return <p className="hint">Counting…</p>;
  const { limits, ...kept } = usage.answer;
  const rows = [
    ["Messages", kept.messages, limits.messages],
    ["Conversations", kept.sessions, limits.sessions],
    ["Projects", kept.projects, limits.projects],
    ["API keys", kept.api_keys, null],
  ] as const;
  return (
    <table className="figures">
      <caption className="unseen">What is kept, and how much may be</caption>
      <thead><tr><th scope="col">Kept</th><th scope="col">Now</th><th scope="col">At most</th></tr></thead>
      <tbody>
        {rows.map(([name, number, limit]) => (
          <tr key={name}><th scope="row">{name}</th><td>{number.toLocaleString("en")}</td><td>{limit === null ? "no limit" : limit.toLocaleString("en")}</td></tr>
        ))}
      </tbody>
    </table>
  );
}
