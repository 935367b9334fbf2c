import type { Project } from "../api/shapes";
import { NO_PROJECT, placeName } from "../words";
import { Icon } from "./icon";

const HUES = 8;

/** Each project has a colour of its own, made of its id, wherever it is shown; what is in no project has none. */
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

/** A project's mark and name; a name that is too long for its line is cut, and shown whole when the pointer rests on it. */
export function PlaceName({ project, projects }: { project: string | null; projects: readonly Project[] }) {
  const name = placeName(project, projects);
  return (
    <span className="place-name" title={name}>
      <PlaceMark project={project} />
      <bdi>{name}</bdi>
    </span>
  );
}

interface PickerProps {
  value: string | null;
  projects: readonly Project[];
  onChange: (project: string | null) => void;
  label: string;
  /** Whether no project can be chosen. */
  shared?: boolean;
}

export function PlacePicker({ value, projects, onChange, label, shared = true }: PickerProps) {
  return (
    <label className="place-picker">
      <span className="unseen">{label}</span>
      <PlaceMark project={value} />
      <select value={value ?? ""} title={placeName(value, projects)} onChange={(event) => onChange(event.target.value || null)}>
        {projects.map((project) => (
          <option key={project.project_id} value={project.project_id}>{project.name}</option>
        ))}
        {shared && <option value="">{NO_PROJECT}</option>}
      </select>
    </label>
  );
}
