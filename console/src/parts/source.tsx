import { useHouseState } from "../house";
import { chatAddress, follow } from "../router";
import { tab } from "../tab";
import { titleOf } from "../words";
import { Icon } from "./icon";

interface Props {
  session: string;
  /** The message to open it at. */
  message?: string | null;
  /** Called when the link is followed in this tab, for what is shown over the page. */
  onLeave?: () => void;
}

/** A conversation as a chip that opens it, at the message where one is named. */
export function Source({ session, message, onLeave }: Props) {
  const { sessions } = useHouseState();
  const title = titleOf(sessions.get(session), session);
  const open = () => {
    onLeave?.();
    tab.open(session, message);
  };
  return (
    <a className="source" href={chatAddress(session, message)} title={title} onClick={(event) => follow(event, open)}>
      <Icon name="chat" />
      <bdi>{title}</bdi>
    </a>
  );
}
