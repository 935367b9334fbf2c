import { useState } from "react";

import { all, patch, post, sentence, withQuery } from "../api/client";
import type { Entity, Hit, Project } from "../api/shapes";
import { useHouse, useHouseState } from "../house";
import { Dialog } from "../parts/dialog";
import { PlacePicker } from "../parts/place";
import { Source } from "../parts/source";
import { toast } from "../parts/toasts";
import { useAnswer } from "../parts/use-answer";
import { When } from "../parts/when";
import { useTab } from "../tab";

export function EntitiesPart() {
  const house = useHouse();
  const { projects, sessions } = useHouseState();
  const here = sessions.get(useTab().session)?.project_id ?? projects.find((project) => project.is_default)?.project_id ?? projects[0]?.project_id ?? null;
  const [chosen, setChosen] = useState<string | null>(null);
  const [user, setUser] = useState("");
  const id = chosen ?? here;
  const project = projects.find((each) => each.project_id === id);
  const isPrivate = project?.member_visibility === "private";
  const question = id === null ? null : withQuery("/v1/entities", { project_id: id, ...(isPrivate && user.trim() ? { user_id: user.trim() } : {}) });
  const entities = useAnswer(question, (path, signal) => all<Entity>(path, 10_000, signal));
  const [looking, setLooking] = useState<Entity | null>(null);
  const [moving, setMoving] = useState<Entity | null>(null);
  if (!project || id === null) return <p className="empty">There is no project yet, and entities live only in projects.</p>;
  return (
    <>
      <div className="toolbar">
        <PlacePicker value={id} projects={projects} label="Project" onChange={setChosen} shared={false} />
        {isPrivate && (
          <label className="field inline">
            <span>User</span>
            <input value={user} dir="auto" placeholder="conversations without one" onChange={(event) => setUser(event.target.value)} />
          </label>
        )}
      </div>
      <p className="hint">People, places and things that conversations in {project.name} spoke of. They stay in the project they were learned in, even when a conversation moves.</p>
      {entities.problem && <p className="trouble" role="alert">{entities.problem}</p>}
      {entities.answer?.length === 0 && <p className="empty">No entities yet in {project.name}.</p>}
      <ul className="kept entities">
        {entities.answer?.map((entity) => (
          <li key={entity.id}>
            <p className="statement" dir="auto"><strong>{entity.name}</strong> <span className="kind">{entity.type}</span></p>
            {entity.notes && <p dir="auto">{entity.notes}</p>}
            <footer>
              <span className="actions">
                <button type="button" className="link" onClick={() => setLooking(entity)}>Sources</button>
                {house.mayWrite && projects.length > 1 && <button type="button" className="link" onClick={() => setMoving(entity)}>Move</button>}
              </span>
            </footer>
          </li>
        ))}
      </ul>
      {looking && <MentionsDialog entity={looking} project={project} user={isPrivate ? user.trim() : ""} onClose={() => setLooking(null)} />}
      {moving && <MoveEntity entity={moving} from={project} onDone={entities.again} onClose={() => setMoving(null)} />}
    </>
  );
}

/** Where the project speaks of it: found anew each time, inside the project's walls. */
function MentionsDialog({ entity, project, user, onClose }: { entity: Entity; project: Project; user: string; onClose: () => void }) {
  const hits = useAnswer(`${project.project_id} ${entity.id}`, () =>
    post<{ data: Hit[] }>("/v1/search", { query: entity.name, project_id: project.project_id, kinds: ["episodes"], limit: 8, ...(user ? { user_id: user } : {}) }),
  );
  const said = hits.answer?.data.filter((hit) => hit.content.toLocaleLowerCase().includes(entity.name.toLocaleLowerCase())) ?? [];
  return (
    <Dialog title={`Where ${project.name} speaks of ${entity.name}`} onClose={onClose}>
      {hits.problem && <p className="trouble" role="alert">{hits.problem}</p>}
      <ul className="kept">
        {said.map((hit) => (
          <li key={hit.id}>
            <p dir="auto">{hit.content}</p>
            <footer>
              {hit.session_id && <Source session={hit.session_id} message={hit.message_id} onLeave={onClose} />}
              <When moment={hit.created_at} />
            </footer>
          </li>
        ))}
      </ul>
      {hits.answer && said.length === 0 && <p className="empty">No conversation that is in {project.name} now speaks of it. The one it was learned from may have moved.</p>}
    </Dialog>
  );
}

function MoveEntity({ entity, from, onDone, onClose }: { entity: Entity; from: Project; onDone: () => void; onClose: () => void }) {
  const { projects } = useHouseState();
  const others = projects.filter((project) => project.project_id !== from.project_id);
  const [to, setTo] = useState(others[0]?.project_id ?? null);
  const name = others.find((project) => project.project_id === to)?.name ?? "";
  const move = async () => {
    try {
      await patch(`/v1/entities/${entity.id}`, { project_id: to });
      toast(`${entity.name} is now an entity of ${name}.`);
      onDone();
      onClose();
    } catch (error) {
      toast(sentence(error));
    }
  };
  return (
    <Dialog title={`Move ${entity.name}`} onClose={onClose}>
      <PlacePicker value={to} projects={others} label="To" onChange={setTo} shared={false} />
      <p className="consequence">Chats in {name} will then know of {entity.name}, and chats in {from.name} no longer will. If {name} already has an entity with that name, the two become one.</p>
      <div className="actions">
        <button type="button" onClick={onClose}>Cancel</button>
        <button type="button" className="primary" onClick={() => void move()}>Move</button>
      </div>
    </Dialog>
  );
}
