/** Line drawings on a grid of 20. They say nothing to screen readers: their button does. */

const PATHS = {
  arch: "M4 17V9a6 6 0 0 1 12 0v8M7.5 17V9.2a2.5 2.5 0 0 1 5 0V17",
  check: "m4.5 10.5 3.5 3.5 7.5-8",
  chevron: "m7.5 5 5 5-5 5",
  close: "m5 5 10 10M15 5 5 15",
  copy: "M7 7V4.5A1.5 1.5 0 0 1 8.5 3h7A1.5 1.5 0 0 1 17 4.5v7a1.5 1.5 0 0 1-1.5 1.5H13M4.5 7h7A1.5 1.5 0 0 1 13 8.5v7a1.5 1.5 0 0 1-1.5 1.5h-7A1.5 1.5 0 0 1 3 15.5v-7A1.5 1.5 0 0 1 4.5 7",
  edit: "m12.5 4.5 3 3L7 16l-3.7.7L4 13z",
  gear: "M3 6h8m4 0h2M3 14h2m4 0h8M13 4v4M7 12v4",
  leave: "M8 17H4.5A1.5 1.5 0 0 1 3 15.500V4.500A1.500 1.500 0 0 1 4.500 3H8m4.500 10.500L16 10l-3.500-3.500M16 10H8",
  leaf: "M4 16c6 1 12-2 12-12C7 4 3 9 4 16m0 0 6-6",
  menu: "M3 6h14M3 10h14M3 14h14",
  more: "M5 10h.01M10 10h.01M15 10h.01",
  move: "M3 7.500A1.500 1.500 0 0 1 4.500 6H8l1.500 2h6A1.500 1.500 0 0 1 17 9.500v5a1.500 1.500 0 0 1-1.500 1.500h-11A1.500 1.500 0 0 1 3 14.500zm7 2.800 2.200 1.700L10 13.700M6.500 12h5.500",
  plus: "M10 4v12M4 10h12",
  retry: "M16 10a6 6 0 1 1-1.800-4.300L16 7.500M16 4v3.500h-3.500",
  search: "M9 15A6 6 0 1 0 9 3a6 6 0 0 0 0 12m4.300-1.700L17 17",
  send: "M10 16V4.500M5 9l5-5 5 5",
  stop: "M6 6h8v8H6z",
  tabs: "M3 7.500A1.500 1.500 0 0 1 4.500 6h8A1.500 1.500 0 0 1 14 7.500v7a1.500 1.500 0 0 1-1.500 1.500h-8A1.500 1.500 0 0 1 3 14.500zM7 6V4.500A1.500 1.500 0 0 1 8.500 3h7A1.500 1.500 0 0 1 17 4.500v6a1.500 1.500 0 0 1-1.500 1.500H14",
  trash: "M4 6h12M8 6V4h4v2m-6.500 0 .800 10.500h7.400L14.500 6M8.500 9v5m3-5v5",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name }: { name: IconName }) {
  return (
    <svg className="icon" viewBox="0 0 20 20" aria-hidden="true" focusable="false">
      <path d={PATHS[name]} />
    </svg>
  );
}

/** The arches: the mark of the house. */
export function Mark() {
  return (
    <svg className="mark" viewBox="0 0 32 32" aria-hidden="true" focusable="false">
      <path d="M3 28V14a6 6 0 0 1 12 0v14h-2.600V14a3.400 3.400 0 0 0-6.800 0v14zM17 28V14a6 6 0 0 1 12 0v14h-2.600V14a3.400 3.400 0 0 0-6.800 0v14zM2 4h28v2.200H2z" />
    </svg>
  );
}
