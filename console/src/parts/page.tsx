import { useEffect, type ReactNode } from "react";

import { follow, go, usePath } from "../router";

interface Props {
  title: string;
  parts: readonly (readonly [path: string, label: string])[];
  children: ReactNode;
  /** What can be done from any part. */
  action?: ReactNode;
}

/** A page with parts, each at an address of its own. */
export function Page({ title, parts, children, action }: Props) {
  const path = usePath();
  useEffect(() => {
    document.title = `${title} · Cloister`;
  }, [title]);
  return (
    <div className="page">
      <header className="page-head">
        <h1 dir="auto" title={title}>{title}</h1>
        {action}
      </header>
      <nav className="parts" aria-label={title}>
        {parts.map(([to, label]) => (
          <a key={to} href={to} aria-current={path === to ? "page" : undefined} onClick={(event) => follow(event, () => go(to))}>{label}</a>
        ))}
      </nav>
      {children}
    </div>
  );
}

/** A link to another page of the console. */
export function PageLink({ to, children }: { to: string; children: ReactNode }) {
  return <a href={to} onClick={(event) => follow(event, () => go(to))}>{children}</a>;
}
