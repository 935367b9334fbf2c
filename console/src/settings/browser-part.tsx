import { useState } from "react";

import { post } from "../api/client";
import { setNotifications, wantsNotifications } from "../chat/notifications";
import { useHouse } from "../house";
import { setTheme, theme, type Theme } from "../theme";

const THEMES: readonly [Theme, string][] = [
  ["system", "System"],
  ["light", "Light"],
  ["dark", "Dark"],
];

const KEYS: readonly [string, string][] = [
  ["Enter", "send"],
  ["Shift+Enter", "new line"],
  ["Esc", "stop the reply; close what is open"],
  ["↑ in an empty field", "edit your last message"],
  ["Alt+N", "new chat"],
  ["Ctrl+K", "search"],
  ["↓ and ↑ in the list", "move through conversations"],
  ["Delete on a conversation", "delete it, with undo"],
];

function NotificationField() {
  const [isOn, setOn] = useState(wantsNotifications);
  const [refused, setRefused] = useState(false);
  const change = async (to: boolean) => {
    const on = await setNotifications(to);
    setOn(on);
    setRefused(to && !on);
  };
  return (
    <div className="field">
      <label><input type="checkbox" checked={isOn} onChange={(event) => void change(event.target.checked)} /> Notify me when a reply finishes in a hidden tab</label>
      {refused && <p className="hint" role="status">The browser does not allow notifications from this page. You can change that in the browser’s settings.</p>}
    </div>
  );
}

export function BrowserPart() {
  const house = useHouse();
  const [chosen, setChosen] = useState(theme());
  const leave = async () => {
    await post("/console/sign-out");
    location.assign("/sign-in");
  };
  return (
    <>
      <p>Signed in with the key “<strong>{house.me.name}</strong>” ({house.me.permissions.join(", ")}).</p>
      <p><button type="button" onClick={() => void leave()}>Sign out</button></p>
      <fieldset className="field">
        <legend>Colours</legend>
        {THEMES.map(([each, label]) => (
          <label key={each}>
            <input
              type="radio"
              name="theme"
              checked={chosen === each}
              onChange={() => {
                setTheme(each);
                setChosen(each);
              }}
            />{" "}
            {label}
          </label>
        ))}
      </fieldset>
      <NotificationField />
      <h2>Keys</h2>
      <dl className="keys">
        {KEYS.map(([key, meaning]) => (
          <div key={key}><dt><kbd>{key}</kbd></dt><dd>{meaning}</dd></div>
        ))}
      </dl>
    </>
  );
}
