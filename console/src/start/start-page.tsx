/** The first minute: what projects are, where new chats go, and whether a model is connected. */

import { useEffect } from "react";

import { RECALL_ONLY, useHouse, useHouseState } from "../house";
import { PageLink } from "../parts/page";
import { PlaceName } from "../parts/place";
import { ModelTestButton } from "../settings/model-test";
import { tab } from "../tab";
import { TryTheWall } from "./try-the-wall";

export function StartPage() {
  const house = useHouse();
  const { projects, models } = useHouseState();
  const own = house.me.project_id ?? projects.find((project) => project.is_default)?.project_id ?? null;
  const model = models?.[0];
  useEffect(() => {
    document.title = "Start · Cloister";
  }, []);
  return (
    <div className="page start-page">
      <h1>Welcome to Cloister</h1>
      <p className="lead">A chat that remembers, one project at a time.</p>
      <section aria-label="Projects">
        <h2>Projects are separate memories</h2>
        <p>What you say in a project is remembered by the other chats of that project, and by no others. You can move a chat later; you see first what becomes visible where.</p>
        <p>
          A new chat goes into <PlaceName project={own} projects={projects} /> unless you choose another project{house.me.confined ? "" : ", or none"}.{" "}
          {house.isAdmin && !house.me.confined && <PageLink to="/settings">Make a project</PageLink>}
        </p>
        <p><button type="button" className="primary" onClick={() => tab.begin(own)}>Start a chat</button></p>
      </section>
      {house.isAdmin && !house.me.confined && <TryTheWall />}
      <section aria-label="Model">
        <h2>The model</h2>
        {model === undefined ? (
          <p className="hint" role="status">Loading…</p>
        ) : model === RECALL_ONLY ? (
          <>
            <p>No model connected. Until there is one, replies show what is remembered, and where it was said.</p>
            <p><PageLink to="/settings/model">How to connect a model</PageLink></p>
          </>
        ) : (
          <>
            <p>Connected: <strong>{model}</strong>. {(models?.length ?? 0) > 1 ? "A chat can use another one: press the model’s name at its top. " : ""}<PageLink to="/settings/model">How to connect another model</PageLink></p>
            <ModelTestButton />
          </>
        )}
      </section>
      {house.isAdmin && (
        <section aria-label="Import">
          <h2>Coming from another assistant?</h2>
          <p><PageLink to="/import">Import your conversations</PageLink> from ChatGPT, Claude, mem0 or a log. You see what is in the file first.</p>
        </section>
      )}
    </div>
  );
}
