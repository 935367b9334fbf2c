import { useState } from "react";

import { post } from "../api/client";
import { useHouse } from "../house";
import { setTheme, theme, type Theme } from "../theme";

const THEMES: readonly [Theme, string][] = [
  ["system", "as the system has it"],
  ["light", "light"],
  ["dark", "dark"],
];

const KEYS: readonly [string, string][] = [
  ["Enter", "send"],
  ["Shift+Enter", "begin a new line"],
  ["Esc", "stop the reply; close what is open"],
  ["↑ in an empty field", "edit what you said last"],
  ["Alt+N", "new chat"],
  ["Ctrl+K", "search"],
  ["↓ and ↑ in the list", "walk the conversations"],
  ["Delete on a conversation", "delete it, with undo"],
];

export function BrowserPart() {
  const house = useHouse();
  const [chosen, setChosen] = useState(theme());
  const leave = async () => {
    await post("/console/sign-out");
    location.assign("/sign-in");
  };
  return (
    <>
      <p>Signed in as <strong>{house.me.name}</strong>, which may {house.me.permissions.join(", ")}.</p>
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
      <h2>Keys</h2>
      <dl className="keys">
        {KEYS.map(([key, meaning]) => (
          <div key={key}><dt><kbd>{key}</kbd></dt><dd>{meaning}</dd></div>
        ))}
      </dl>
    </>
  );
}
