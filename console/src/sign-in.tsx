import { useEffect, useState } from "react";

import { post } from "./api/client";
import { Mark } from "./parts/icon";
import { go, usePath } from "./router";

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
          <p className="hint">From a checkout: <code>./scripts/run console</code>. Your conversations are where they were.</p>
        </>
      )}
    </main>
  );
}
