import type { Project } from "../api/shapes";
import { SHARED_POOL } from "../words";
import { Icon } from "./icon";

const HUES = 8;

/** Each project has a colour of its own, made of its id, wherever it is shown; the shared pool has none. */
export function hueOf(project: string | null): string {
  if (project === null) return "none";
  let sum = 0;
  for (const character of project) sum = (sum * 31 + character.charCodeAt(0)) % 9_973;
  return String(sum % HUES);
}

export function PlaceMark({ project }: { project: string | null }) {
  return (
    <span className="place-mark" data-hue={hueOf(project)}>
      <Icon name="arch" />
    </span>
  );
}

export function PlaceName({ project, projects }: { project: string | null; projects: readonly Project[] }) {
  const name = project === null ? capital(SHARED_POOL) : (projects.find((each) => each.project_id === project)?.name ?? "A project");
  return (
    <span className="place-name">
      <PlaceMark project={project} />
      <span>{name}</span>
    </span>
  );
}

interface PickerProps {
  value: string | null;
  projects: readonly Project[];
  onChange: (project: string | null) => void;
  label: string;
  /** Whether the shared pool can be chosen. */
  shared?: boolean;
}

export function PlacePicker({ value, projects, onChange, label, shared = true }: PickerProps) {
  return (
    <label className="place-picker">
      <span className="unseen">{label}</span>
      <PlaceMark project={value} />
      <select value={value ?? ""} onChange={(event) => onChange(event.target.value || null)}>
        {projects.map((project) => (
          <option key={project.project_id} value={project.project_id}>{project.name}</option>
        ))}
        {shared && <option value="">{capital(SHARED_POOL)}</option>}
      </select>
    </label>
  );
}

function capital(text: string): string {
  return text.replace(/^the (.)/, (_, letter: string) => letter.toUpperCase());
}
