import { useState } from "react";

import { post, sentence } from "../api/client";
import type { ApiKey, Permission } from "../api/shapes";
import { useHouseState } from "../house";
import { CopyButton } from "../parts/copy-button";
import { Dialog } from "../parts/dialog";

const PERMISSIONS: readonly [Permission, string][] = [
  ["read", "read and recall"],
  ["write", "record, change and delete"],
  ["admin", "everything, including keys and projects"],
];

export function KeyForm({ onMade, onClose }: { onMade: () => void; onClose: () => void }) {
  const { projects } = useHouseState();
  const [name, setName] = useState("");
  const [permissions, setPermissions] = useState<readonly Permission[]>(["read", "write"]);
  const [project, setProject] = useState("");
  const [confined, setConfined] = useState(true);
  const [user, setUser] = useState("");
  const [expires, setExpires] = useState("");
  const [made, setMade] = useState<string | null>(null);
  const [problem, setProblem] = useState<string | null>(null);
  const create = async () => {
    try {
      const key = await post<ApiKey & { key: string }>("/org/api-keys", {
        name: name.trim(),
        permissions,
        ...(project ? { project_id: project, confined } : {}),
        ...(user.trim() ? { user_id: user.trim() } : {}),
        ...(expires ? { expires_at: new Date(`${expires}T23:59:59`).toISOString() } : {}),
      });
      setMade(key.key);
      onMade();
    } catch (error) {
      setProblem(sentence(error));
    }
  };
  if (made !== null) {
    return (
      <Dialog title="Your new key" isKept onClose={onClose}>
        <p>Copy it now. It is shown only once.</p>
        <p className="secret"><code>{made}</code><CopyButton text={() => made} label="Copy the key" /></p>
        <div className="actions"><button type="button" className="primary" onClick={onClose}>I have it</button></div>
      </Dialog>
    );
  }
  return (
    <Dialog title="New key" onClose={onClose}>
      <form
        onSubmit={(event) => {
          event.preventDefault();
          void create();
        }}
      >
        <label className="field">
          <span>Name</span>
          <input value={name} autoFocus maxLength={255} placeholder="Who or what will use it" onChange={(event) => setName(event.target.value)} />
        </label>
        <fieldset className="field">
          <legend>Permissions</legend>
          {PERMISSIONS.map(([permission, meaning]) => (
            <label key={permission}>
              <input
                type="checkbox"
                checked={permissions.includes(permission)}
                onChange={(event) => setPermissions(event.target.checked ? [...permissions, permission] : permissions.filter((each) => each !== permission))}
              />{" "}
              <strong>{permission}</strong>: {meaning}
            </label>
          ))}
        </fieldset>
        <label className="field">
          <span>Project</span>
          <select value={project} onChange={(event) => setProject(event.target.value)}>
            <option value="">all projects</option>
            {projects.map((each) => <option key={each.project_id} value={each.project_id}>{each.name}</option>)}
          </select>
        </label>
        {project && (
          <fieldset className="field">
            <legend>Access to other projects</legend>
            <label><input type="radio" name="confined" checked={confined} onChange={() => setConfined(true)} /> none</label>
            <label><input type="radio" name="confined" checked={!confined} onChange={() => setConfined(false)} /> others too, if named in the request</label>
          </fieldset>
        )}
        <label className="field">
          <span>User</span>
          <input value={user} maxLength={255} placeholder="all users" onChange={(event) => setUser(event.target.value)} />
        </label>
        <label className="field">
          <span>Valid until</span>
          <input type="date" value={expires} onChange={(event) => setExpires(event.target.value)} />
        </label>
        {problem && <p className="trouble" role="alert">{problem}</p>}
        <div className="actions">
          <button type="button" onClick={onClose}>Cancel</button>
          <button type="submit" className="primary" disabled={!name.trim() || permissions.length === 0}>Create</button>
        </div>
      </form>
    </Dialog>
  );
}
