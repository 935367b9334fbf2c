import { useState } from "react";

import { all, remove, sentence } from "../api/client";
import type { ApiKey } from "../api/shapes";
import { useHouse, useHouseState } from "../house";
import { Dialog } from "../parts/dialog";
import { PlaceName } from "../parts/place";
import { useAnswer } from "../parts/use-answer";
import { Day } from "../parts/when";
import { KeyForm } from "./key-form";

export function KeysPart() {
  const house = useHouse();
  const may = house.isAdmin && !house.me.confined;
  const keys = useAnswer(may ? "/org/api-keys" : null, (path, signal) => all<ApiKey>(path, 10_000, signal));
  const { projects } = useHouseState();
  const [making, setMaking] = useState(false);
  const [revoking, setRevoking] = useState<ApiKey | null>(null);
  if (!may) return <p className="empty">Only an admin key that reaches every project may manage keys.</p>;
  return (
    <>
      <p className="hint">Programs use API keys. A key is shown once, when you create it; only its hash is stored. This console uses a cookie instead.</p>
      {keys.problem && <p className="trouble" role="alert">{keys.problem}</p>}
      <ul className="cards">
        {keys.answer?.map((key) => (
          <li key={key.key_id}>
            <h2>{key.name}</h2>
            <p>
              May {key.permissions.join(", ")}
              {key.project_id !== null && (
                <>; {key.confined ? "only in" : "unless a request names another project, in"} <PlaceName project={key.project_id} projects={projects} /></>
              )}
              {key.user_id !== null && <>; only for the user <bdi>{key.user_id}</bdi></>}
              . Made <Day moment={key.created_at} />{key.expires_at && <>, valid until <Day moment={key.expires_at} /></>}.
            </p>
            <code>{key.key_id}</code>
            <div className="actions"><button type="button" className="grave" onClick={() => setRevoking(key)}>Revoke</button></div>
          </li>
        ))}
      </ul>
      <p><button type="button" className="primary" onClick={() => setMaking(true)}>New key</button></p>
      {making && <KeyForm onMade={keys.again} onClose={() => setMaking(false)} />}
      {revoking && <RevokeKey apiKey={revoking} onDone={keys.again} onClose={() => setRevoking(null)} />}
    </>
  );
}

function RevokeKey({ apiKey, onDone, onClose }: { apiKey: ApiKey; onDone: () => void; onClose: () => void }) {
  const [problem, setProblem] = useState<string | null>(null);
  const act = async () => {
    try {
      await remove(`/org/api-keys/${apiKey.key_id}`);
      onDone();
      onClose();
    } catch (error) {
      setProblem(sentence(error));
    }
  };
  return (
    <Dialog title={`Revoke “${apiKey.name}”`} onClose={onClose}>
      <p className="consequence">Programs with this key are refused from now on, and browsers signed in with it are signed out. This can’t be undone.</p>
      {problem && <p className="trouble" role="alert">{problem}</p>}
      <div className="actions">
        <button type="button" onClick={onClose} autoFocus>Cancel</button>
        <button type="button" className="grave" onClick={() => void act()}>Revoke</button>
      </div>
    </Dialog>
  );
}
