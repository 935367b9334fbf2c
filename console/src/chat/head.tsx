import { useState } from "react";

import type { Session } from "../api/shapes";
import { RECALL_ONLY, useHouse, useHouseState } from "../house";
import { Icon } from "../parts/icon";
import { PlaceName } from "../parts/place";
import { follow, go, projectAddress } from "../router";
import { SessionMenu } from "../session/session-menu";
import { SetupDialog } from "../session/setup-dialog";
import { useSessionsElsewhere } from "../tab";

interface Props {
  title: string;
  id: string;
  session: Session | null;
  isNew: boolean;
  place: string | null;
}

/** The title of a conversation, its project and its model, and what can be done with it. */
export function ChatHead({ title, id, session, isNew, place }: Props) {
  const house = useHouse();
  const { projects, models } = useHouseState();
  const isElsewhere = [...useSessionsElsewhere().values()].includes(id);
  const [settingUp, setSettingUp] = useState(false);
  const model = session?.model ?? models?.[0];
  return (
    <header className="chat-head">
      <div className="chat-title">
        <h1 title={title}><bdi>{title}</bdi></h1>
        {!isNew && session && (
          <a className="place-link" href={projectAddress(place)} onClick={(event) => follow(event, () => go(projectAddress(place)))}>
            <PlaceName project={place} projects={projects} />
          </a>
        )}
        {isElsewhere && (
          <span className="tab-mark" title="This conversation is open in another tab too">
            <Icon name="tabs" />
            <span>also in another tab</span>
          </span>
        )}
      </div>
      {house.mayWrite && (isNew || session) && (
        <button type="button" className="quiet model-button" aria-haspopup="dialog" title="Model and prompt of this conversation" onClick={() => setSettingUp(true)}>
          <span className="unseen">Model: </span>
          <bdi>{model === undefined ? "Model" : model === RECALL_ONLY ? "No model" : model}</bdi>
          {session?.system_prompt && <span className="kind">own prompt</span>}
        </button>
      )}
      {session && <SessionMenu session={session} />}
      {settingUp && <SetupDialog id={id} session={session} project={place} onClose={() => setSettingUp(false)} />}
    </header>
  );
}
