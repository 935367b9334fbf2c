/** Bring conversations from another program, with a preview. */
export function ImportPage() {
  return <div className="page"><h1>Import</h1></div>;
}
