import { useCallback, useEffect, useState } from "react";

import { get, onSignedOut, Refusal } from "./api/client";
import { events } from "./api/events";
import type { SignedIn } from "./api/shapes";
import { Chat } from "./chat/chat";
import { drafts } from "./chat/composer/drafts";
import { House, HouseContext, useHouseState } from "./house";
import { Dialog } from "./parts/dialog";
import { Icon } from "./parts/icon";
import { Toasts } from "./parts/toasts";
import { RoutePage } from "./pages";
import { replaceAddress, usePath, useRoute } from "./router";
import { Sidebar } from "./sidebar/sidebar";
import { SignIn, signIns } from "./sign-in";
import { tab, useTab } from "./tab";

const TRY_AGAIN = 2_000;

type Who = SignedIn | "unknown" | "nobody" | "unreachable";

export function App() {
  const [who, setWho] = useState<Who>(location.hash.length > 1 && location.pathname === "/sign-in" ? "nobody" : "unknown");
  const ask = useCallback(() => {
    get<SignedIn>("/console/session")
      .then(setWho)
      .catch((error: unknown) => setWho(error instanceof Refusal && error.status < 500 && error.status !== 429 ? "nobody" : "unreachable"));
  }, []);
  useEffect(() => {
    if (who === "unknown") ask();
    if (who !== "unreachable") return;
    const timer = setInterval(ask, TRY_AGAIN);
    return () => clearInterval(timer);
  }, [who, ask]);
  useEffect(
    () =>
      onSignedOut(() => {
        events.close();
        setWho("nobody");
      }),
    [],
  );
  useEffect(() => {
    signIns.addEventListener("message", ask);
    return () => signIns.removeEventListener("message", ask);
  }, [ask]);
  if (who === "unknown") return null;
  if (who === "nobody" || who === "unreachable") return <SignIn onSignedIn={ask} unreachable={who === "unreachable"} />;
  return <SignedInApp key={who.key_id} me={who} />;
}

/** The key that was signed in last in this page. */
let lastKey: string | null = null;

function SignedInApp({ me }: { me: SignedIn }) {
  const [house] = useState(() => {
    drafts.belongTo(me.key_id);
    return new House(me);
  });
  useEffect(() => {
    // The conversation of another key is not there for this one.
    if (lastKey !== null && lastKey !== me.key_id) tab.begin(undefined);
    lastKey = me.key_id;
  }, [me.key_id]);
  useEffect(() => house.open(), [house]);
  return (
    <HouseContext value={house}>
      <Shell />
      <Toasts />
    </HouseContext>
  );
}

function Shell() {
  const route = useRoute();
  const path = usePath();
  const { loaded } = useHouseState();
  const { turn } = useTab();
  const [aside, setAside] = useState(false);
  const [over, setOver] = useState<string | null>(null);
  const onChat = route.page === "chat" || route.page === "sign-in";
  // Over one page and one conversation: on another it is gone.
  const here = `${path} ${turn}`;
  const isOver = over === here;
  const close = useCallback(() => setAside(false), []);

  useEffect(() => {
    if (route.page === "sign-in") replaceAddress("/", { session: tab.now.session });
  }, [route.page]);
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      if (event.altKey && !event.ctrlKey && !event.metaKey && event.code === "KeyN") {
        event.preventDefault();
        tab.begin();
      }
      if (event.key === "Escape") setAside(false);
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
  useEffect(() => {
    // A file that is dropped where nothing takes it would be opened by the browser, in place of the console.
    const keep = (event: DragEvent) => event.dataTransfer?.types.includes("Files") && event.preventDefault();
    addEventListener("dragover", keep);
    addEventListener("drop", keep);
    return () => {
      removeEventListener("dragover", keep);
      removeEventListener("drop", keep);
    };
  }, []);

  return (
    <div className={aside ? "shell aside-open" : "shell"}>
      <a className="skip" href="#main" onClick={(event) => { event.preventDefault(); document.getElementById("composer")?.focus(); document.getElementById("main")?.scrollIntoView(); }}>Skip to the conversation</a>
      <div className="bar">
        <button type="button" className="quiet" onClick={() => setAside(!aside)} aria-label="Conversations" aria-expanded={aside} aria-controls="aside">
          <Icon name="menu" />
        </button>
        <span className="bar-name">Cloister</span>
        <button type="button" className="quiet" onClick={() => { tab.begin(); close(); }} aria-label="New chat">
          <Icon name="plus" />
        </button>
      </div>
      <div id="aside" className="aside"><Sidebar onLeave={close} /></div>
      {aside && <button type="button" className="veil" aria-label="Close the list" onClick={close} />}
      <main id="main" tabIndex={-1}>
        {!loaded ? null : onChat ? <Chat /> : <RoutePage route={route} />}
        {loaded && !onChat && !isOver && (
          <button type="button" className="over-button" onClick={() => setOver(here)}>
            <Icon name="chat" />
            <span>Conversation</span>
          </button>
        )}
        {isOver && <Dialog title="Conversation" className="over" onClose={() => setOver(null)}><Chat inside /></Dialog>}
      </main>
    </div>
  );
}
