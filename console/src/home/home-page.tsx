import { PlaceName } from "../parts/place";
import { useHouseState } from "../house";
import type { ProjectPart } from "../router";

/** The home of a project, or of what is in no project (null), and its parts; null: its overview. */
export function HomePage({ project }: { project: string | null; part: ProjectPart | null }) {
  const { projects } = useHouseState();
  return <div className="page"><h1><PlaceName project={project} projects={projects} /></h1></div>;
}
