import type { EntityDetail } from "../api/entities";

const MOST = 14;
const [WIDTH, HEIGHT] = [640, 400];
const LONGEST = 18;

interface Props {
  centre: EntityDetail;
  nameOf: (id: string) => string;
  onOpen: (id: string) => void;
}

/** An entity in the middle, and what it is related to around it. The list beside it says the same to a keyboard and a screen reader. */
export function Graph({ centre, nameOf, onOpen }: Props) {
  const around = neighboursOf(centre).slice(0, MOST);
  return (
    <svg className="graph" viewBox={`0 0 ${WIDTH} ${HEIGHT}`} aria-hidden="true" focusable="false">
      {around.map(({ id, relations }, at) => {
        const [x, y] = position(at, around.length);
        return (
          <g key={id} className="neighbour" onClick={() => onOpen(id)}>
            <line x1={WIDTH / 2} y1={HEIGHT / 2} x2={x} y2={y} />
            <text className="relation" x={(WIDTH / 2 + 1.6 * x) / 2.6} y={(HEIGHT / 2 + 1.6 * y) / 2.6 - 4}>{cut(relations.join(", "))}</text>
            <circle cx={x} cy={y} r={9} />
            <text x={x} y={y + (y < HEIGHT / 2 ? -16 : 26)}>{cut(nameOf(id))}</text>
            <title>{`${relations.join(", ")}: ${nameOf(id)}`}</title>
          </g>
        );
      })}
      <g className="centre">
        <circle cx={WIDTH / 2} cy={HEIGHT / 2} r={13} />
        <text x={WIDTH / 2} y={HEIGHT / 2 + 34}>{cut(centre.name)}</text>
      </g>
    </svg>
  );
}

/** The entities that one is related to, each once, with all relations to it. */
export function neighboursOf(entity: EntityDetail): { id: string; relations: string[] }[] {
  const found = new Map<string, string[]>();
  for (const { entity_id: id, relation } of entity.relations) {
    const known = found.get(id) ?? [];
    if (!known.includes(relation)) found.set(id, [...known, relation]);
  }
  return [...found].map(([id, relations]) => ({ id, relations }));
}

function position(at: number, of: number): [number, number] {
  const angle = (2 * Math.PI * at) / of - Math.PI / 2 + (of === 2 ? Math.PI / 2 : 0);
  return [WIDTH / 2 + Math.cos(angle) * (WIDTH / 2 - 90), HEIGHT / 2 + Math.sin(angle) * (HEIGHT / 2 - 48)];
}

function cut(text: string): string {
  const letters = Array.from(new Intl.Segmenter().segment(text), (each) => each.segment);
  return letters.length <= LONGEST ? text : `${letters.slice(0, LONGEST - 1).join("")}…`;
}
