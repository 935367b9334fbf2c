/** What is remembered of one user. */
export function UserPage({ user }: { user: string }) {
  return <div className="page"><h1>{user}</h1></div>;
}
