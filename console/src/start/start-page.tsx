/** The first minute: what projects are, and whether a model is connected. */
export function StartPage() {
  return <div className="page"><h1>Welcome to Cloister</h1></div>;
}
