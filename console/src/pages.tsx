/** The pages besides the chat, each loaded when it is first opened. */

import { lazy, Suspense, useEffect } from "react";

import type { Route } from "./router";
import { tab } from "./tab";

const HomePage = lazy(async () => ({ default: (await import("./home/home-page")).HomePage }));
const UserPage = lazy(async () => ({ default: (await import("./home/user-page")).UserPage }));
const StartPage = lazy(async () => ({ default: (await import("./start/start-page")).StartPage }));
const ImportPage = lazy(async () => ({ default: (await import("./import/import-page")).ImportPage }));
const MemoryPage = lazy(async () => ({ default: (await import("./memory/memory-page")).MemoryPage }));
const SettingsPage = lazy(async () => ({ default: (await import("./settings/settings-page")).SettingsPage }));

export function RoutePage({ route }: { route: Route }) {
  return <Suspense fallback={<p className="page hint" role="status">Loading…</p>}>{pageOf(route)}</Suspense>;
}

function pageOf(route: Route) {
  switch (route.page) {
    case "project": return <HomePage key={route.project} project={route.project} part={route.part} />;
    case "user": return <UserPage key={route.user} user={route.user} part={route.part} />;
    case "memory": return <MemoryPage />;
    case "settings": return <SettingsPage />;
    case "start": return <StartPage />;
    case "import": return <ImportPage />;
    default: return <NotFound />;
  }
}

function NotFound() {
  useEffect(() => {
    document.title = "Page not found · Cloister";
  }, []);
  return (
    <div className="page not-found">
      <h1>Page not found</h1>
      <p>There is nothing at this address.</p>
      <p><button type="button" className="primary" onClick={() => tab.show()}>Back to the chat</button></p>
    </div>
  );
}
