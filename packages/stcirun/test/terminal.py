"""Runs a program (after ROWS and COLUMNS) in a pseudo-terminal of its own: our standard input is what is typed, our
standard output what the screen shows; ends with the program's status. Used by pty.ts."""
import fcntl, os, pty, select, struct, sys, termios

pid, screen = pty.fork()
if pid == 0:
    fcntl.ioctl(0, termios.TIOCSWINSZ, struct.pack('HHHH', int(sys.argv[1]), int(sys.argv[2]), 0, 0))
    os.execvp(sys.argv[3], sys.argv[3:])
inputs = [0, screen]
while screen in inputs:
    for fd in select.select(inputs, [], [])[0]:
        try:
            data = os.read(fd, 65536)
        except OSError:  # EIO: the last process of the terminal has gone
            data = b''
        if not data:
            inputs.remove(fd)
        else:
            os.write(screen if fd == 0 else 1, data)
status = os.waitpid(pid, 0)[1]
sys.exit(os.waitstatus_to_exitcode(status) & 255)
