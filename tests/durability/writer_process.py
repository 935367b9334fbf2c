"""A process that writes from many threads and says on standard output what was acknowledged; it is killed from outside."""

import sys
import threading

from cloister import Cloister

THREADS = 8


def main(directory: str) -> None:
    memory = Cloister(directory)
    printing = threading.Lock()

    def write(number: int) -> None:
        session = f"session-{number % 4}"
        count = 0
        while True:
            count += 1
            message = memory.record(session, "user", f"The parcel q{number}x{count} came from Lisbon.")
            with printing:
                print(f"{session} {message.id} q{number}x{count}", flush=True)

    for number in range(THREADS):
        threading.Thread(target=write, args=(number,)).start()


if __name__ == "__main__":
    main(sys.argv[1])
