import { useEffect, useState } from "react";

import { post } from "./api/client";
import { drafts } from "./chat/drafts";
import { Mark } from "./parts/icon";
import { go, usePath } from "./router";

/** Tells this browser's other tabs that somebody signed in: they go on, or become the new one's. */
export const signIns = new BroadcastChannel("cloister.sign-ins");

/** The code is taken out of the address before anything else happens: it is not to stay in the history. */
function takeCode(): string {
  const code = location.hash.slice(1);
  if (code) history.replaceState(null, "", location.pathname);
  return code;
}

/** Signs in with the code of a link, where there is one, and otherwise says how to get one. */
export function SignIn({ onSignedIn, unreachable }: { onSignedIn: () => void; unreachable: boolean }) {
  const [state, setState] = useState<"asking" | "refused" | "waiting">(() => (location.hash.length > 1 ? "waiting" : "asking"));
  const path = usePath();
  useEffect(() => {
    const code = takeCode();
    if (!code) return;
    post("/console/sign-in", { code })
      .then(() => {
        go("/");
        signIns.postMessage(null);
        onSignedIn();
      })
      .catch(() => setState("refused"));
  }, [path, onSignedIn]);
  useEffect(() => {
    document.title = "Sign in · Cloister";
  }, []);
  return (
    <main className="sign-in">
      <Mark />
      <h1>Cloister</h1>
      {unreachable ? (
        <p role="status">The server cannot be reached. This page tries again by itself.</p>
      ) : state === "waiting" ? (
        <p role="status">Signing in…</p>
      ) : (
        <>
          <p role={state === "refused" ? "alert" : undefined}>
            {state === "refused"
              ? "That link has been used already, or is too old. Each works once, for a quarter of an hour."
              : "This browser is not signed in, or the server was started again since."}
          </p>
          <p>Get a link where the server runs, and open it here:</p>
          <pre tabIndex={0}><code>cloister console</code></pre>
          {drafts.any && <p>What you typed and did not send is still here: open the link in another tab, and this one goes on with it.</p>}
          <p className="hint">From a checkout: <code>./scripts/run console</code>. Your conversations are where they were.</p>
        </>
      )}
    </main>
  );
}
