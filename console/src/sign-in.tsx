import { useCallback, useEffect, useState, useSyncExternalStore } from "react";

import { get, post, Refusal } from "./api/client";
import { drafts } from "./chat/composer/drafts";
import { Mark } from "./parts/icon";
import { replaceAddress, usePath } from "./router";
import { tab } from "./tab";

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
  const [other, setOther] = useState<{ code: string; detail: string } | null>(null);
  const path = usePath();
  // What was being sent comes back when it is refused, which may be after this page was opened.
  const hasDrafts = useSyncExternalStore(drafts.watch, () => drafts.any);
  const redeem = useCallback(
    (code: string, replace: boolean) => {
      const enter = () => {
        replaceAddress("/", { session: tab.now.session });
        signIns.postMessage(null);
        onSignedIn();
      };
      post("/console/sign-in", { code, replace })
        .then(enter)
        .catch((error: unknown) => {
          if (error instanceof Refusal && error.code === "conflict") setOther({ code, detail: error.message });
          else {
            // A used link in a browser that is signed in: there is nothing to sign in to.
            get("/console/session")
              .then(enter)
              .catch(() => setState("refused"));
          }
        });
    },
    [onSignedIn],
  );
  useEffect(() => {
    const code = takeCode();
    if (code) redeem(code, false);
  }, [path, redeem]);
  useEffect(() => {
    document.title = "Sign in · Cloister";
  }, []);
  return (
    <main className="sign-in">
      <Mark />
      <h1>Cloister</h1>
      {unreachable ? (
        <p role="status">The server can’t be reached. Trying again…</p>
      ) : other ? (
        <OtherSignIn
          detail={other.detail}
          onReplace={() => {
            setOther(null);
            redeem(other.code, true);
          }}
          onStay={() => {
            replaceAddress("/", { session: tab.now.session });
            onSignedIn();
          }}
        />
      ) : state === "waiting" ? (
        <p role="status">Signing in…</p>
      ) : (
        <>
          <p role={state === "refused" ? "alert" : undefined}>
            {state === "refused"
              ? "That link has been used already, or is too old. A link works once, for 15 minutes."
              : "You’re signed out."}
          </p>
          <p>Run this where the server runs, and open the link it prints:</p>
          <pre tabIndex={0}><code>cloister console</code></pre>
          {hasDrafts && <p>What you typed is still here: open the link in another tab, and this one continues with it.</p>}
          <p className="hint">From a checkout: <code>./scripts/run console</code>. Your conversations are safe.</p>
        </>
      )}
    </main>
  );
}

/** A link of another key, opened where somebody is signed in: nothing changes without a click. */
function OtherSignIn({ detail, onReplace, onStay }: { detail: string; onReplace: () => void; onStay: () => void }) {
  return (
    <>
      <p role="alert">{detail.replace(/ Sign out first.*$/, "")}</p>
      <p className="choices">
        <button type="button" onClick={onStay}>Stay signed in</button> <button type="button" onClick={onReplace}>Sign in with the link</button>
      </p>
    </>
  );
}
