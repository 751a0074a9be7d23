
/** What the programs of Java have in common: it runs the attempts and tells what came of them. */
class Features {
    interface Attempt {
        void run() throws Exception;
    }

    private final java.util.concurrent.ExecutorService pool = java.util.concurrent.Executors.newCachedThreadPool(task -> {
        Thread thread = new Thread(task);
        thread.setDaemon(true);
        return thread;
    });

    static String host() {
        return System.getenv("HOST");
    }

    static int port(String name) {
        return Integer.parseInt(System.getenv(name));
    }

    static void demand(boolean is, String what) {
        if (!is) {
            throw new IllegalStateException(what);
        }
    }

    void attempt(String name, Attempt attempt) {
        try {
            pool.submit(() -> {
                attempt.run();
                return null;
            }).get(25, java.util.concurrent.TimeUnit.SECONDS);
            System.out.println("pass " + name);
        } catch (java.util.concurrent.TimeoutException late) {
            System.out.println("fail " + name + " it took too long");
        } catch (Exception problem) {
            Throwable cause = problem.getCause() == null ? problem : problem.getCause();
            System.out.println("fail " + name + " " + cause.toString().replace('\n', ' '));
        }
    }

    void lacks(String name, String reason) {
        System.out.println("none " + name + " " + reason);
    }
}
