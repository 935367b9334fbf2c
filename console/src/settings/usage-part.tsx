import { get } from "../api/client";
import type { Usage } from "../api/shapes";
import { useAnswer } from "../parts/use-answer";

export function UsagePart() {
  const usage = useAnswer("/org/usage", (path, signal) => get<Usage>(path, signal));
  if (usage.problem) return <p className="trouble" role="alert">{usage.problem}</p>;
  if (!usage.answer) return <p className="hint">Loading…</p>;
  const { limits, ...kept } = usage.answer;
  const rows = [
    ["Messages", kept.messages, limits.messages],
    ["Conversations", kept.sessions, limits.sessions],
    ["Projects", kept.projects, limits.projects],
    ["API keys", kept.api_keys, null],
  ] as const;
  return (
    <table className="figures">
      <caption className="unseen">What is stored, and its limits</caption>
      <thead><tr><th scope="col">Stored</th><th scope="col">Now</th><th scope="col">Limit</th></tr></thead>
      <tbody>
        {rows.map(([name, number, limit]) => (
          <tr key={name}><th scope="row">{name}</th><td>{number.toLocaleString()}</td><td>{limit === null ? "no limit" : limit.toLocaleString()}</td></tr>
        ))}
      </tbody>
    </table>
  );
}
