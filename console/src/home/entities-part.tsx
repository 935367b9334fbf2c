import { useState, type ReactNode } from "react";

import { all, sentence, withQuery } from "../api/client";
import { deleteEntity, entityDetail, mergeEntity, restoreEntity, splitAlias, type EntityDetail } from "../api/entities";
import { partQuery } from "../api/memories";
import type { Entity, Project } from "../api/shapes";
import { useHouse } from "../house";
import { Source } from "../parts/source";
import { toast } from "../parts/toasts";
import { useAnswer } from "../parts/use-answer";
import { When } from "../parts/when";
import { count } from "../words";
import { Graph, neighboursOf } from "./graph";

const AT_ONCE = 300;
const MOST_MENTIONS = 10;

interface Props {
  project: Project;
  user: string | null;
  whose: ReactNode;
}

/** The people, places and things of a project, and how they are related: a graph to move through, and the same as lists. */
export function EntitiesPart({ project, user, whose }: Props) {
  const path = withQuery("/v1/entities", { project_id: project.project_id, ...partQuery(user) });
  const entities = useAnswer(path, (asked, signal) => all<Entity>(asked, 10_000, signal));
  const [chosen, setChosen] = useState<string | null>(null);
  const [query, setQuery] = useState("");
  const [most, setMost] = useState(AT_ONCE);
  const listed = entities.answer ?? [];
  const wanted = query.trim().toLocaleLowerCase();
  const found = listed.filter((each) => `${each.name} ${each.notes}`.toLocaleLowerCase().includes(wanted));
  const current = listed.find((each) => each.id === chosen)?.id ?? found[0]?.id ?? null;
  const detail = useAnswer(current, (id, signal) => entityDetail(id, signal));
  const nameOf = (id: string) => listed.find((each) => each.id === id)?.name ?? "another entity";
  const again = () => {
    entities.again();
    detail.again();
  };
  return (
    <>
      <p className="hint">People, places and things that conversations in {project.name} spoke of.</p>
      <div className="toolbar home-tools">
        <input type="search" value={query} dir="auto" placeholder="Search entities" aria-label="Search entities" onChange={(event) => setQuery(event.target.value)} />
        {whose}
      </div>
      {(entities.problem ?? detail.problem) && <p className="trouble" role="alert">{entities.problem ?? detail.problem}</p>}
      {entities.answer && found.length === 0 && <p className="empty">{wanted ? "No entities match." : `No entities yet in ${project.name}.`}</p>}
      {found.length > 0 && (
        <div className="entity-pane">
          <ul className="entity-list" aria-label="Entities">
            {found.slice(0, most).map((each) => (
              <li key={each.id}>
                <button type="button" aria-current={each.id === current ? "true" : undefined} onClick={() => setChosen(each.id)}>
                  <bdi>{each.name}</bdi> <span className="kind">{each.type}</span>
                </button>
              </li>
            ))}
            {found.length > most && (
              <li>
                <button type="button" className="more-rows" onClick={() => setMost(most + AT_ONCE)}>{(found.length - most).toLocaleString()} more</button>
              </li>
            )}
          </ul>
          {detail.answer && <Detail key={detail.answer.id} entity={detail.answer} listed={listed} nameOf={nameOf} onOpen={setChosen} onChanged={again} />}
        </div>
      )}
    </>
  );
}

interface DetailProps {
  entity: EntityDetail;
  listed: readonly Entity[];
  nameOf: (id: string) => string;
  onOpen: (id: string) => void;
  onChanged: () => void;
}

function Detail({ entity, listed, nameOf, onOpen, onChanged }: DetailProps) {
  const house = useHouse();
  const [into, setInto] = useState("");
  const neighbours = neighboursOf(entity);
  const attempt = async (act: () => Promise<unknown>, said: string, undo?: () => Promise<unknown>) => {
    try {
      await act();
      onChanged();
      toast(said, undo ? { seconds: 7, action: { label: "Undo", act: () => void attempt(undo, "Undone.") } } : {});
    } catch (error) {
      toast(sentence(error), { seconds: 10 });
    }
  };
  const merge = async () => {
    const target = into;
    await attempt(() => mergeEntity(entity.id, target), `${entity.name} is now part of ${nameOf(target)}.`, () => restoreEntity(target));
    onOpen(target);
  };
  return (
    <section className="entity-detail" aria-label={entity.name}>
      <h2 dir="auto">{entity.name} <span className="kind">{entity.type}</span></h2>
      {neighbours.length > 0 && <Graph centre={entity} nameOf={nameOf} onOpen={onOpen} />}
      {entity.notes && <p dir="auto">{entity.notes}</p>}
      {neighbours.length > 0 && (
        <ul className="relations" aria-label="Relations">
          {neighbours.map(({ id, relations }) => (
            <li key={id}>{relations.join(", ")}: <button type="button" className="link" onClick={() => onOpen(id)}><bdi>{nameOf(id)}</bdi></button></li>
          ))}
        </ul>
      )}
      {entity.aliases.length > 0 && (
        <p>
          Also called{" "}
          {entity.aliases.map((alias) => (
            <span key={alias} className="alias">
              <bdi>{alias}</bdi>
              {house.mayWrite && <button type="button" className="link" onClick={() => void attempt(() => splitAlias(entity.id, alias), `${alias} is an entity of its own now.`, () => restoreEntity(entity.id))}>split off</button>}
            </span>
          ))}
        </p>
      )}
      <ul className="kept" aria-label="Mentions">
        {entity.mentions.slice(0, MOST_MENTIONS).map((mention) => (
          <li key={mention.message_id}>
            <p dir="auto">{mention.content}</p>
            <footer><Source session={mention.session_id} message={mention.message_id} /><When moment={mention.created_at} /></footer>
          </li>
        ))}
      </ul>
      {entity.mentions.length > MOST_MENTIONS && <p className="hint">And {count(entity.mentions.length - MOST_MENTIONS, "more mention")}.</p>}
      {house.mayWrite && (
        <div className="toolbar">
          {listed.length > 1 && (
            <>
              <label className="field inline">
                <span>Same as</span>
                <select value={into} onChange={(event) => setInto(event.target.value)}>
                  <option value="">…</option>
                  {listed.filter((each) => each.id !== entity.id).map((each) => <option key={each.id} value={each.id}>{each.name}</option>)}
                </select>
              </label>
              <button type="button" disabled={!into} onClick={() => void merge()}>Merge</button>
            </>
          )}
          <span className="spacer" />
          <button type="button" className="grave" onClick={() => void attempt(() => deleteEntity(entity.id), `Deleted ${entity.name}. The messages that mention it stay.`, () => restoreEntity(entity.id))}>Delete</button>
        </div>
      )}
    </section>
  );
}
